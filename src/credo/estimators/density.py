"""`CredalSPN`: learn the joint distribution of a table's columns, as far as the table determines it."""

from __future__ import annotations

import time
from numbers import Integral, Real
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from credo.errors import ParameterError, SchemaError
from credo.estimators.progress import watching
from credo.infer.compatible import compatible
from credo.infer.likelihood import log_likelihood
from credo.infer.program import compile_program
from credo.infer.scores import Scores
from credo.learn.freeze import freeze
from credo.learn.learners import LEARNERS, structure_learner
from credo.learn.slices import CodeTable
from credo.learn.trees import Node
from credo.model.circuit import Circuit
from credo.table.encode import MISSING, encode, infer_schema
from credo.table.schema import Schema

SMOOTHINGS = (2.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
HELD_OUT = 0.1  # share of the rows that choose the smoothing where no other rows are given


class CredalSPN(BaseEstimator):  # type: ignore[misc]
    """A credal sum-product network learned from a table.

    Parameters
    ----------
    learner : {"levray_belle", "learn_spn"}
        "levray_belle" is LearnCSPN as published: rows with gaps may join several clusters, and missing cells leave the
        proportions of leaves open. "learn_spn" takes complete tables only; there both give the same network.
    cluster_penalty : float
        What a cluster costs, in nats for each column. More gives fewer clusters and smaller circuits.
    g_factor : float
        A pair of columns is independent where G < 2 * degrees of freedom * g_factor. More gives more independence.
    min_rows : int
        Slices with at most this many (complete) rows become products of leaves.
    restarts, passes : int
        How often the rows of a slice are clustered anew, and how many times each is looked at.
    smoothing : float or {"auto", "validate"}
        Added to the count of every value of every leaf. "validate" takes what is best for the validation table; "auto" does
        so where one is given and otherwise learns from nine rows in ten, takes what is best for the tenth, and learns again
        from all: without, values never seen in a slice have probability 0, and one such cell makes a row impossible.
    max_nodes : int or None
        Bound on the size of the circuit; what would exceed it becomes a product of leaves, with a warning.
    counts : {"sums", "printed"}
        How cells are counted in the test of independence where some are missing: with marginals that are the sums of the pair
        table, or with the marginals and the total of the published text.
    most_clusters : int or None
        In how many clusters a row with gaps may be: those where it is most likely. None is any number, as published; on tables
        with many gaps circuits then grow until `max_nodes` stops them.
    carry_threshold : bool
        Keep the threshold for new clusters from one restart to the next once it was lowered, as published. On noisy tables every
        row may then become a cluster, so the default starts each restart anew.
    random_state : int, numpy Generator or None
        Same table, settings and number: same circuit. None is another circuit each time.
    n_jobs : int or None
        Threads, as in scikit-learn. The circuit does not depend on it.
    verbose : bool or None
        Whether to show progress; None shows it on a terminal.

    Attributes
    ----------
    circuit_ : Circuit
        The learned circuit.
    schema_ : Schema
        The columns and their values.
    n_nodes_ : int
        Number of nodes.
    smoothing_ : float
        The smoothing in use.
    learning_seconds_ : float
        How long structure and weights took.

    Examples
    --------
    >>> import numpy as np
    >>> from credo import CredalSPN
    >>> table = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, np.nan]] * 20)
    >>> model = CredalSPN(smoothing=0.0, random_state=0).fit(table)
    >>> model.circuit_.probability({"x1": 1})
    [0.400, 0.600]
    """

    def __init__(
        self,
        learner: Literal["levray_belle", "learn_spn"] = "levray_belle",
        cluster_penalty: float = 0.6,
        g_factor: float = 10.0,
        min_rows: int = 4,
        restarts: int = 10,
        passes: int = 4,
        smoothing: float | Literal["auto", "validate"] = "auto",
        max_nodes: int | None = 1_000_000,
        counts: Literal["sums", "printed"] = "sums",
        most_clusters: int | None = 16,
        carry_threshold: bool = False,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.learner = learner
        self.cluster_penalty = cluster_penalty
        self.g_factor = g_factor
        self.min_rows = min_rows
        self.restarts = restarts
        self.passes = passes
        self.smoothing = smoothing
        self.max_nodes = max_nodes
        self.counts = counts
        self.most_clusters = most_clusters
        self.carry_threshold = carry_threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None, *, validation: ArrayLike | None = None) -> Self:
        """Learn the circuit of a table.

        Parameters
        ----------
        X : array-like of numbers, (rows, columns)
            Whole numbers, at most 12 different ones a column; NaN for missing.
        y : ignored
            For scikit-learn's pipelines.
        validation : array-like, optional
            Rows that choose the smoothing.

        Returns
        -------
        CredalSPN
            The estimator itself.
        """
        self._check_parameters(validation)
        schema = infer_schema(X)
        codes = encode(X, schema)
        if self.learner == "learn_spn":
            _refuse_gaps(codes, schema)
        chosen_by = None if validation is None else encode(validation, schema)
        seed = _seed(self.random_state)
        smoothing = self.smoothing
        if smoothing == "auto" and chosen_by is None:
            kept, held_out = _divided(len(codes), seed)
            smoothing = _best_smoothing(self._grown(codes[kept], schema, seed), schema, codes[held_out]) if len(held_out) else 1.0
        start = time.perf_counter()
        tree = self._grown(codes, schema, seed)
        seconds = time.perf_counter() - start
        if isinstance(smoothing, str):
            assert chosen_by is not None
            smoothing = _best_smoothing(tree, schema, chosen_by)
        start = time.perf_counter()
        self.circuit_ = Circuit(freeze(tree, schema.sizes, smoothing), schema)
        self.learning_seconds_ = seconds + time.perf_counter() - start
        self.smoothing_ = float(smoothing)
        self.schema_ = schema
        self.n_nodes_ = self.circuit_.n_nodes
        self.n_features_in_ = len(schema)
        return self

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log-likelihood of each row under the central compatible network; missing cells are summed over."""
        return self._central.log_likelihood(self._encoded(X))

    def score_samples_bounds(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the lower and upper log-probability of each row, (rows, 2); missing cells are summed over."""
        return self._fitted.log_bounds(self._encoded(X))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return the mean log-likelihood of the rows under the central compatible network."""
        return float(self.score_samples(X).mean())

    def scores(self, X: ArrayLike) -> Scores:
        """Return the mean lower, average and upper log-likelihood of the rows, and the gap between lower and upper.

        Examples
        --------
        >>> import numpy as np
        >>> from credo import CredalSPN
        >>> table = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, np.nan]] * 20)
        >>> CredalSPN(smoothing=1.0).fit(table).scores(table[:4])
        Scores(min_ll=-0.952, avg_ll=-0.841, opt_ll=-0.749, gap=0.203)
        """
        codes = self._encoded(X)
        return Scores.of(self._fitted.log_bounds(codes), self._fitted.compatible("vertex_mean").log_likelihood(codes))

    @property
    def _fitted(self) -> Circuit:
        check_is_fitted(self, "circuit_")
        return self.circuit_

    @property
    def _central(self) -> Circuit:
        if self.__dict__.get("_central_of") is not self._fitted:
            self._central_circuit, self._central_of = self._fitted.compatible("centre"), self._fitted
        return self._central_circuit

    def _encoded(self, X: ArrayLike) -> NDArray[np.int8]:
        check_is_fitted(self, "circuit_")
        return encode(X, self.schema_)

    def _grown(self, codes: NDArray[np.int8], schema: Schema, seed: int) -> Node:
        table = CodeTable(codes, np.array(schema.sizes))
        with watching(self.verbose) as watch:
            return structure_learner(
                cluster_penalty=self.cluster_penalty,
                g_factor=self.g_factor,
                min_rows=self.min_rows,
                restarts=self.restarts,
                passes=self.passes,
                max_nodes=self.max_nodes,
                counts=self.counts,
                most_clusters=self.most_clusters,
                carry_threshold=self.carry_threshold,
                random_state=seed,
                n_jobs=self.n_jobs,
                watch=watch,
            ).learn(table)

    def _check_parameters(self, validation: ArrayLike | None) -> None:
        _check("learner", self.learner in LEARNERS, f"one of {', '.join(map(repr, LEARNERS))}", self.learner)
        for name in ("cluster_penalty", "g_factor"):
            value = getattr(self, name)
            _check(name, _is_number(value), "a number of at least 0", value)
        for name, least in (("min_rows", 1), ("restarts", 1), ("passes", 1)):
            value = getattr(self, name)
            _check(name, _is_whole(value, least), f"a whole number of at least {least}", value)
        for name in ("max_nodes", "most_clusters"):
            value = getattr(self, name)
            _check(name, value is None or _is_whole(value, 1), "a whole number of at least 1, or None", value)
        good = self.n_jobs is None or (isinstance(self.n_jobs, Integral) and not isinstance(self.n_jobs, bool) and self.n_jobs != 0)
        _check("n_jobs", good, "None or a whole number other than 0", self.n_jobs)
        _check("counts", self.counts in ("sums", "printed"), "'sums' or 'printed'", self.counts)
        _check("carry_threshold", isinstance(self.carry_threshold, bool | np.bool_), "True or False", self.carry_threshold)
        good = self.smoothing in ("auto", "validate") if isinstance(self.smoothing, str) else _is_number(self.smoothing)
        _check("smoothing", good, "a number of at least 0, 'auto' or 'validate'", self.smoothing)
        if self.smoothing == "validate" and validation is None:
            raise ParameterError("smoothing='validate' needs rows to choose by: fit(X, validation=X_valid); or use smoothing='auto'")


def _check(name: str, good: bool, allowed: str, value: object) -> None:
    if not good:
        raise ParameterError(f"{name} must be {allowed}, got {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < float("inf")


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _refuse_gaps(codes: NDArray[np.int8], schema: Schema) -> None:
    gaps = (codes == MISSING).sum(axis=0)
    if gaps.any():
        at = int(gaps.argmax())
        others = ", ".join(repr(name) for name in LEARNERS if name != "learn_spn")
        raise SchemaError(
            f"learner='learn_spn' takes complete tables, but {int((gaps > 0).sum())} columns have missing cells (most: "
            f"{schema.names[at]!r}, {gaps[at]} of {len(codes)} rows); a learner that takes them: {others}"
        )


def _seed(random_state: object) -> int:
    if _is_whole(random_state, 0):
        return int(random_state)  # type: ignore[call-overload]
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    raise ParameterError(f"random_state must be a whole number of at least 0, a numpy Generator or None, got {random_state!r}")


def _divided(n_rows: int, random_state: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from and those held out to choose the smoothing, each in their order."""
    order = np.random.default_rng(random_state).permutation(n_rows)
    n_held_out = round(HELD_OUT * n_rows)
    return np.sort(order[n_held_out:]), np.sort(order[:n_held_out])


def _best_smoothing(tree: Node, schema: Schema, codes: NDArray[np.int8]) -> float:
    """Return the smoothing with the largest mean log-likelihood of rows under the central network, the largest of equals."""

    def score(smoothing: float) -> float:
        central = compatible(freeze(tree, schema.sizes, smoothing))
        return float(log_likelihood(central, compile_program(central), codes).mean())

    return max(SMOOTHINGS, key=score)
