"""Which clusters of a sum a row with missing cells may be in.

Clusters are frozen: their shares of the rows, and the probability of each value of each column in them, are those that learning
left. So what a row may be in depends on its own cells alone, and not on the order in which rows are looked at.

To add a rule, write a frozen dataclass with a method `belongs(clusters, codes, scores) -> array (rows, clusters)`: truth values, or
shares that add to one for each row. Each row must be somewhere. A rule may have a number `room`, which see in `Margin`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from credo.errors import ParameterError
from credo.kernels.membership import not_dominated, scanned
from credo.kernels.soft_em import cluster_scores
from credo.learn.slices import SMOOTHING, offsets
from credo.learn.trees import Cluster, Integers

Belongs: TypeAlias = NDArray[np.bool_] | NDArray[np.float64]
Scores: TypeAlias = NDArray[np.float64]

SMALLEST_SHARE = 0.01  # of a row in a cluster, below which it is shared among the others


@dataclass(frozen=True, slots=True, eq=False)
class FrozenClusters:
    """The clusters of a sum as rows meet them.

    Parameters
    ----------
    columns : int array
        The columns below the sum.
    first_value : int array
        The values of its column v are first_value[v] .. first_value[v + 1] - 1.
    log_shares : float array
        By cluster, the logarithm of its share of the rows.
    log_models : float array
        By value and cluster, the logarithm of the value's probability there.
    unknown : int array
        By column and cluster, how many rows of the cluster miss the cell.
    """

    columns: Integers
    first_value: NDArray[np.int32]
    log_shares: NDArray[np.float64]
    log_models: NDArray[np.float64]
    unknown: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Integers, n_values: Integers, clusters: tuple[Cluster, ...]) -> FrozenClusters:
        """Freeze what learning found."""
        first_value = offsets(n_values)
        counts = np.stack([cluster.counts for cluster in clusters], axis=1)
        sizes = np.array([max(cluster.size, 0.5) for cluster in clusters])  # none where all rows there know few cells
        known = np.add.reduceat(counts, first_value[:-1], axis=0)
        totals = np.repeat(known + SMOOTHING * n_values[:, None], n_values, axis=0)
        return cls(
            columns,
            first_value,
            np.log(sizes / sizes.sum()),
            np.log((counts + SMOOTHING) / totals),
            np.maximum(sizes.astype(np.int64) - known, 0),
        )

    def scores(self, codes: Integers, rows: Integers) -> Scores:
        """Return the logarithm of share times likelihood of the known cells of each row in each cluster."""
        return cluster_scores(codes, rows, self.columns, self.first_value, self.log_shares, self.log_models)


class MembershipRule(Protocol):
    """Decides which clusters a row with missing cells may be in."""

    def belongs(self, clusters: FrozenClusters, codes: Integers, scores: Scores) -> Belongs:
        """Return for each row whether it may be in each cluster, or its shares in them.

        Parameters
        ----------
        clusters : FrozenClusters
        codes : int array, (rows, columns of the sum)
            The cells, -1 where missing.
        scores : float array, (rows, clusters)
            The logarithm of share times likelihood of the known cells.
        """
        ...


@dataclass(frozen=True, slots=True)
class Best:
    """The cluster that is most likely by the known cells, the first of equals."""

    def belongs(self, clusters: FrozenClusters, codes: Integers, scores: Scores) -> Belongs:
        """Return one cluster for each row."""
        return np.eye(scores.shape[1], dtype=np.bool_)[scores.argmax(axis=1)]


@dataclass(frozen=True, slots=True)
class Margin:
    """The best cluster, and room for rows that the other clusters may yet send.

    A row goes where it is most likely by its known cells; one that knows less than half of them, which says little, is divided as
    by `Posterior`. Once a gap is filled the row may belong to another cluster, which then has a row more with that value. So at a
    leaf where cells are missing, more rows may be there, with any value: so many that intervals of single columns are wider than
    gaps make them by the share `room`, and no more. In return, answers about several columns are covered where cells are missing
    because of what they hold, which `Best` misses by a few hundredths of the width.
    """

    room: float = 0.19

    def __post_init__(self) -> None:
        if not 0 <= self.room < math.inf:
            raise ParameterError(f"the room of a margin must be a number of at least 0, got {self.room!r}")

    def belongs(self, clusters: FrozenClusters, codes: Integers, scores: Scores) -> Belongs:
        """Return one cluster for each row, or shares of rows that know little."""
        shares = Best().belongs(clusters, codes, scores).astype(np.float64)
        little = 2 * (codes >= 0).sum(axis=1) < codes.shape[1]
        shares[little] = Posterior().belongs(clusters, codes[little], scores[little])
        return shares


@dataclass(frozen=True, slots=True)
class Posterior:
    """All clusters, each with its probability given the known cells: the row is divided among them.

    A share of a row is counted like a row of that weight, surely there: it adds its weight to the known values of its cluster, and
    to what is missing there. So all masses are certain, weights of sums are points, and leaves are `[known, known + missing]` over
    all weight, as with `Best`. Shares below one in a hundred go to the other clusters.
    """

    def belongs(self, clusters: FrozenClusters, codes: Integers, scores: Scores) -> Belongs:
        """Return the shares of each row."""
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        # A row that is nowhere likely enough, among more than a hundred clusters, is where it is most likely.
        shares[(shares < SMALLEST_SHARE) & (shares < shares.max(axis=1, keepdims=True))] = 0
        return shares / shares.sum(axis=1, keepdims=True)


@dataclass(frozen=True, slots=True)
class Ratio:
    """Every cluster that is at least `1/alpha` times as likely as the best one."""

    alpha: float = 2.0

    def __post_init__(self) -> None:
        if not 1 <= self.alpha < math.inf:
            raise ParameterError(f"the ratio must be a number of at least 1, got {self.alpha!r}")

    def belongs(self, clusters: FrozenClusters, codes: Integers, scores: Scores) -> Belongs:
        """Return whether each cluster is likely enough."""
        return scores >= scores.max(axis=1, keepdims=True) - math.log(self.alpha)


@dataclass(frozen=True, slots=True)
class Dominance:
    """Every cluster but those that another one beats whatever the missing cells hold.

    However a row is completed, the cluster where the completed row is most likely is among these, ties included.
    """

    def belongs(self, clusters: FrozenClusters, codes: Integers, scores: Scores) -> Belongs:
        """Return whether each cluster is beaten by no other one."""
        return not_dominated(codes, scores, clusters.first_value, clusters.log_models)


@dataclass(frozen=True, slots=True)
class LevrayBelle:
    """The published rule: a cluster whose known cells alone beat the worst case of the best cluster.

    Parameters
    ----------
    second_term : bool
        Whether the worst case is raised by the share of the cluster's missing cells that were completed with the rarest value.
        All of them were, as clusters are frozen. Without it, the clusters of `Dominance` are among those of this rule.
    """

    second_term: bool = True

    def belongs(self, clusters: FrozenClusters, codes: Integers, scores: Scores) -> Belongs:
        """Return the clusters that a scan in their order keeps."""
        first = clusters.first_value
        worst = np.minimum.reduceat(clusters.log_models, first[:-1], axis=0)
        if self.second_term:
            n_values = np.diff(first)[:, None]
            completed = np.log((clusters.unknown + SMOOTHING) / (clusters.unknown + SMOOTHING * n_values))
            worst = worst - np.where(clusters.unknown > 0, completed, 0.0)
        return scanned(scores, scores + (codes < 0) @ worst)


RULES: dict[str, MembershipRule] = {
    "margin": Margin(),
    "best": Best(),
    "posterior": Posterior(),
    "ratio": Ratio(),
    "dominance": Dominance(),
    "levray_belle": LevrayBelle(),
}


def rule_of(membership: object) -> MembershipRule:
    """Return the rule of a name, that of `"ratio(3)"` or `"margin(0.1)"` with its number, or the rule itself."""
    if isinstance(membership, str):
        found = re.fullmatch(r"(\w+)(?:\((\d*\.?\d+|\d+\.)\))?", membership)
        name, number = found.groups() if found else ("", None)
        if number is None and name in RULES:
            return RULES[name]
        if number is not None and name == "ratio" and float(number) >= 1:
            return Ratio(float(number))
        if number is not None and name == "margin":
            return Margin(float(number))
    elif callable(getattr(membership, "belongs", None)) and not isinstance(membership, type):
        return membership  # type: ignore[return-value]
    names = ", ".join(map(repr, RULES))
    raise ParameterError(
        f"membership must be one of {names}, 'margin(SHARE)', 'ratio(ALPHA)' with a number of at least 1, or a rule, got {membership!r}"
    )


def checked(rule: MembershipRule, belongs: Belongs, scores: Scores) -> Belongs:
    """Return what a rule said, or raise an error where that is no membership of every row."""
    shape = getattr(belongs, "shape", None)
    if shape != scores.shape or belongs.dtype.kind not in "bf":
        raise ParameterError(f"{rule!r} must give truth values or shares for {scores.shape[0]} rows and {scores.shape[1]} clusters")
    shared = belongs.dtype.kind == "f"
    good = (belongs >= 0).all(axis=1) & (np.abs(belongs.sum(axis=1) - 1) < 1e-9) if shared else belongs.any(axis=1)
    if not good.all():
        raise ParameterError(f"{rule!r} must put every row in a cluster, in shares that add to 1; it gave {belongs[~good][0].tolist()}")
    return belongs
