"""`CredalSPN`: learn the joint distribution of a table's columns, as far as the table determines it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from credo.bounds import Bounds
from credo.errors import CredoWarning, ParameterError, SchemaError
from credo.estimators.choice import G_FACTORS, MORE_SMOOTHINGS, PUBLISHED_G_FACTOR, SMOOTHINGS, Codes, Grown, chosen
from credo.estimators.parameters import check as _check
from credo.estimators.parameters import check_parameters, seed_of
from credo.estimators.progress import watching
from credo.estimators.width import WidthBySource
from credo.infer.compatible import Choice
from credo.infer.scores import Scores
from credo.kernels.dependence import FEWEST_PAIRS
from credo.learn.credal_counts import counted
from credo.learn.em import refined
from credo.learn.freeze import Toward
from credo.learn.independence import rarely_known_together
from credo.learn.learners import LEARNERS, structure_learner
from credo.learn.membership import MembershipRule, rule_of
from credo.learn.slices import CodeTable
from credo.model.circuit import Circuit
from credo.table.encode import MISSING, encode, infer_schema
from credo.table.schema import Schema

COUNT_SETTINGS = ("membership", "smooth_toward", "prior_strength", "contamination", "em_steps")


class CredalSPN(BaseEstimator):  # type: ignore[misc]
    """A credal sum-product network learned from a table.

    Parameters
    ----------
    learner : {"cautious", "levray_belle", "learn_spn"}
        "cautious" learns the structure from known cells, then counts the rows down the finished structure, so that intervals are
        as wide as gaps make them. "levray_belle" is LearnCSPN as published: rows with gaps may join several clusters while the
        structure is learned, and intervals are wide. "learn_spn" is LearnSPN and takes complete tables only.
    cluster_penalty : float
        What a cluster costs, in nats for each column. More gives fewer clusters and smaller circuits.
    g_factor : float or "auto"
        A pair of columns is independent where G < 2 * degrees of freedom * g_factor. More gives more independence and smaller
        circuits. "auto" is 10 for the published learners; for "cautious" it is the largest of 15, 10, 7 and 5 that is as likely as
        the best of them, up to a standard error, by the rows that choose the smoothing.
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
    membership : {"margin", "best", "posterior", "ratio(ALPHA)", "dominance", "levray_belle"} or a rule
        For "cautious": which clusters a row with gaps may be in. "best": the one that is most likely by its known cells. "margin":
        that one, with room for rows that may move once gaps are filled, so that single columns are 19% wider ("margin(0.1)": 10%);
        rows that know less than half of their cells are divided as by "posterior".
        "posterior": all, in parts. "ratio(3)": all at least a third as likely as the best. "dominance": all that some completion of
        the row would choose. "levray_belle": the published rule.
    clustering : {"soft_em", "hard_em"}
        For "cautious": rows are divided in two by EM on their known cells, or as LearnSPN does it; with "hard_em" and a complete
        table the circuit has the structure of "learn_spn".
    smooth_toward : {"auto", "columns", "uniform"}
        How smoothing is spread over the values of a column: evenly, or so that every column by itself keeps its probabilities.
        "auto" is "columns" for "cautious" and "uniform" for the published learners.
    prior_strength : float
        So many more rows at every sum and leaf, which may be anything (the imprecise Dirichlet model): the width that small
        samples deserve. Not for "levray_belle".
    contamination : float
        The share of every credal set's mass that may be anywhere. Not for "levray_belle".
    em_steps : int
        For "cautious": so many steps of expectation-maximisation move the central network towards the most likely one, inside the
        intervals. Bounds do not change.
    counts : {"sums", "printed"}
        For "levray_belle": how cells are counted in the test of independence where some are missing, with marginals that are the sums
        of the pair table, or with the marginals and the total of the published text.
    most_clusters : int or None
        For "levray_belle": in how many clusters a row with gaps may be, those where it is most likely. None is any number, as
        published; on tables with many gaps circuits then grow until `max_nodes` stops them.
    carry_threshold : bool
        Where clusters are those of LearnSPN: keep the threshold for new clusters from one restart to the next once it was lowered, as
        published. On noisy tables every row may then become a cluster, so the default starts each restart anew.
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
    g_factor_ : float
        The factor in use.
    learning_seconds_ : float
        How long structure and weights of this circuit took.
    fit_seconds_ : float
        How long all of `fit` took, with what was learned to choose the smoothing and the g_factor.

    Examples
    --------
    >>> import numpy as np
    >>> from credo import CredalSPN
    >>> table = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, np.nan]] * 20)
    >>> model = CredalSPN(smoothing=0.0, random_state=0).fit(table)
    >>> model.probability({"x1": 1})
    [0.362, 0.600]
    """

    def __init__(
        self,
        learner: Literal["cautious", "levray_belle", "learn_spn"] = "cautious",
        cluster_penalty: float = 0.6,
        g_factor: float | Literal["auto"] = "auto",
        min_rows: int = 4,
        restarts: int = 10,
        passes: int = 4,
        smoothing: float | Literal["auto", "validate"] = "auto",
        max_nodes: int | None = 1_000_000,
        membership: str | MembershipRule = "margin",
        clustering: Literal["soft_em", "hard_em"] = "soft_em",
        smooth_toward: Literal["auto", "columns", "uniform"] = "auto",
        prior_strength: float = 0.0,
        contamination: float = 0.0,
        em_steps: int = 0,
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
        self.membership = membership
        self.clustering = clustering
        self.smooth_toward = smooth_toward
        self.prior_strength = prior_strength
        self.contamination = contamination
        self.em_steps = em_steps
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
            Rows that choose the smoothing and the g_factor, where these are not numbers.

        Returns
        -------
        CredalSPN
            The estimator itself.
        """
        begun = time.perf_counter()
        check_parameters(self, validation is not None)
        schema = infer_schema(X)
        codes = encode(X, schema)
        if self.learner == "learn_spn":
            _refuse_gaps(codes, schema)
        chosen_by = None if validation is None else encode(validation, schema)
        seed = seed_of(self.random_state)
        grow = partial(self._grown, schema, seed)
        grown = chosen(grow, codes, chosen_by, self._g_factors(), self._smoothings(), seed)
        self.smoothing_, self.g_factor_ = grown.smoothing, grown.g_factor
        self.schema_ = schema
        self.n_features_in_ = len(schema)
        self._count(grown, codes)
        self.fit_seconds_ = time.perf_counter() - begun
        for message in grown.said:
            warnings.warn(message, CredoWarning, stacklevel=2)
        return self

    def _count(self, grown: Grown, codes: Codes) -> None:
        """Take what was learned, or counted, as the model."""
        start = time.perf_counter()
        arrays = grown.arrays()
        if self.em_steps:
            arrays = refined(arrays, codes, self.em_steps, grown.smoothing)
        self.circuit_ = Circuit(arrays, grown.schema)
        self.learning_seconds_ = grown.seconds + time.perf_counter() - start
        self.n_nodes_ = self.circuit_.n_nodes
        self._tree_of = grown

    def recount(self, X: ArrayLike, same_rows: bool = False, **settings: Any) -> Self:
        """Return a model with this one's structure and the counts of another table.

        Every row goes down the finished structure; nothing is learned but proportions. Only for `learner="cautious"`.

        Parameters
        ----------
        X : array-like of numbers, (rows, columns)
            The same columns, with values that the model knows; NaN for missing.
        same_rows : bool
            Whether these are the rows that the structure was learned from, in their order, though other cells may be known. Those
            that missed no cell where a cluster was made then stay in it.
        **settings
            Other values for `membership`, `smooth_toward`, `prior_strength`, `contamination` or `em_steps`.

        Returns
        -------
        CredalSPN
            Another model; this one stays as it is.

        Examples
        --------
        >>> import numpy as np
        >>> from credo import CredalSPN
        >>> complete = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, 0]] * 20)
        >>> table = np.where(np.arange(100)[:, None] % 5 == [-1, 4], np.nan, complete)
        >>> model = CredalSPN(smoothing=0.0, random_state=0).fit(table)
        >>> model.probability({"x1": 1}), model.recount(complete, same_rows=True).probability({"x1": 1})
        ([0.362, 0.600], [0.400, 0.400])
        """
        grown = self._tree
        if self.learner != "cautious":
            raise ParameterError(f"recount needs learner='cautious', whose structure is there without its counts; got {self.learner!r}")
        codes = self._encoded(X)
        if same_rows and len(codes) != grown.n_rows:
            raise SchemaError(f"same_rows=True needs the {grown.n_rows} rows that were learned from, got {len(codes)}")
        for name in settings:
            _check("a setting of recount", name in COUNT_SETTINGS, f"one of {', '.join(COUNT_SETTINGS)}", name)
        other = clone(self).set_params(**settings)
        check_parameters(other, has_validation=True)
        start = time.perf_counter()
        tree = counted(grown.tree, CodeTable(codes, np.array(grown.schema.sizes)), rule_of(other.membership), same_rows)
        for name in ("schema_", "n_features_in_", "smoothing_", "g_factor_"):
            setattr(other, name, getattr(self, name))
        toward, strength, free = other._credal_settings()
        seconds = time.perf_counter() - start
        other._count(replace(grown, tree=tree, seconds=seconds, toward=toward, prior_strength=strength, contamination=free), codes)
        return other

    def width_by_source(self, event: Mapping[str, object]) -> WidthBySource:
        """Return how much of the width of a probability comes from gaps, from the size of the sample, and from contamination.

        The interval is computed with gaps alone (all that `membership` leaves open, the room of "margin" included), then with
        `prior_strength`, then with `contamination`, too; each source is what it adds. So the three add to the width.

        Parameters
        ----------
        event : mapping
            See `probability`.

        Examples
        --------
        >>> import numpy as np
        >>> from credo import CredalSPN
        >>> table = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, np.nan]] * 20)
        >>> model = CredalSPN(smoothing=0.0, prior_strength=2, contamination=0.01, random_state=0).fit(table)
        >>> model.width_by_source({"x0": 1, "x1": 1})
        WidthBySource(gaps=0.238, sample_size=0.037, contamination=0.014)
        """
        grown = self._tree

        def width(prior_strength: float, contamination: float) -> float:
            arrays = replace(grown, prior_strength=prior_strength, contamination=contamination).arrays()
            bounds = Circuit(arrays, grown.schema).probability(event)
            return bounds.upper - bounds.lower

        gaps, with_sample = width(0.0, 0.0), width(grown.prior_strength, 0.0)
        return WidthBySource(gaps, with_sample - gaps, width(grown.prior_strength, grown.contamination) - with_sample)

    def probability(self, event: Mapping[str, object]) -> Bounds:
        """Return the lower and upper probability of an event.

        Parameters
        ----------
        event : mapping
            For each column that matters its value, or a set of them. The columns are x0, x1, ...

        Examples
        --------
        >>> import numpy as np
        >>> from credo import CredalSPN
        >>> table = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, np.nan]] * 20)
        >>> CredalSPN(smoothing=0.0, random_state=0).fit(table).probability({"x0": 1, "x1": {0, 1}})
        [0.600, 0.600]
        """
        return self._fitted.probability(event)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log-likelihood of each row under the central compatible network; missing cells are summed over."""
        return self._central.log_likelihood(self._encoded(X))

    def score_samples_bounds(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the lower and upper log-probability of each row, (rows, 2); missing cells are summed over."""
        return self._fitted.log_bounds(self._encoded(X))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return the mean log-likelihood of the rows under the central compatible network."""
        return float(self.score_samples(X).mean())

    def scores(self, X: ArrayLike, of: Literal["auto", "centre", "vertex_mean"] = "auto") -> Scores:
        """Return the mean lower, average and upper log-likelihood of the rows, and the gap between lower and upper.

        Parameters
        ----------
        X : array-like of numbers, (rows, columns)
            NaN for missing.
        of : {"auto", "centre", "vertex_mean"}
            The network whose log-likelihood is the average one: that of observed proportions, or of the means of (limited) extreme
            points, as published. "auto" is "centre" for `learner="cautious"` and "vertex_mean" for the published learners.

        Examples
        --------
        >>> import numpy as np
        >>> from credo import CredalSPN
        >>> table = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, np.nan]] * 20)
        >>> CredalSPN(smoothing=1.0, random_state=0).fit(table).scores(table[:4])
        Scores(min_ll=-1.005, avg_ll=-0.755, opt_ll=-0.743, gap=0.262)
        """
        _check("of", of in ("auto", "centre", "vertex_mean"), "'auto', 'centre' or 'vertex_mean'", of)
        codes = self._encoded(X)
        choice: Choice = of if of != "auto" else "centre" if self.learner == "cautious" else "vertex_mean"
        return Scores.of(self._fitted.log_bounds(codes), self._fitted.compatible(choice).log_likelihood(codes))

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

    def _g_factors(self) -> tuple[float, ...]:
        """Return the g_factors to choose from."""
        if self.g_factor != "auto":
            return (float(self.g_factor),)
        return G_FACTORS if self.learner == "cautious" else (PUBLISHED_G_FACTOR,)

    def _smoothings(self) -> tuple[float, ...]:
        """Return the smoothings to choose from."""
        if not isinstance(self.smoothing, str):
            return (float(self.smoothing),)
        return MORE_SMOOTHINGS if self.learner == "cautious" else SMOOTHINGS

    def _credal_settings(self) -> tuple[Toward, float, float]:
        """Return what circuits are made with besides the smoothing."""
        toward = self.smooth_toward
        if toward == "auto":
            toward = "columns" if self.learner == "cautious" else "uniform"
        return toward, float(self.prior_strength), float(self.contamination)

    @property
    def _tree(self) -> Grown:
        check_is_fitted(self, "circuit_")
        return self._tree_of

    def _grown(self, schema: Schema, seed: int, codes: Codes, g_factor: float, smoothing: float) -> Grown:
        """Learn the tree of a table."""
        start = time.perf_counter()
        table = CodeTable(codes, np.array(schema.sizes))
        said: list[str] = []
        with watching(self.verbose) as watch:
            tree = structure_learner(
                learner=self.learner,
                clustering=self.clustering,
                cluster_penalty=self.cluster_penalty,
                g_factor=g_factor,
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
                say=said.append,
            ).learn(table)
        if self.learner == "cautious":
            tree = counted(tree, table, rule_of(self.membership))
            said.extend(_hardly_together(table, schema))
        return Grown(tree, schema, g_factor, smoothing, time.perf_counter() - start, len(codes), said, *self._credal_settings())


def _refuse_gaps(codes: Codes, schema: Schema) -> None:
    gaps = (codes == MISSING).sum(axis=0)
    if gaps.any():
        at = int(gaps.argmax())
        others = ", ".join(repr(name) for name in LEARNERS if name != "learn_spn")
        raise SchemaError(
            f"learner='learn_spn' takes complete tables, but {int((gaps > 0).sum())} columns have missing cells (most: "
            f"{schema.names[at]!r}, {gaps[at]} of {len(codes)} rows); a learner that takes them: {others}"
        )


def _hardly_together(table: CodeTable, schema: Schema) -> list[str]:
    """Return a message where columns are hardly ever known in the same row."""
    pairs = rarely_known_together(table.whole())
    if not pairs:
        return []
    first, second, rows = pairs[0]
    more = f" (and {len(pairs) - 1} other pairs in fewer than {FEWEST_PAIRS})" if len(pairs) > 1 else ""
    return [
        f"columns {schema.names[first]!r} and {schema.names[second]!r} are both known in {rows} rows{more}: too few to see whether they "
        "depend on each other, so they are taken to be independent. More rows that know both would tell."
    ]
