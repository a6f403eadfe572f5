"""Clusters that share rows: where a row with missing cells belongs is left open, as LearnCSPN was published.

A row has two log-likelihoods in a cluster: a *lower* one of its known cells, and an *upper* one that adds the worst case of its
missing cells. It joins every cluster whose lower value beats the upper value of the best cluster. So a complete row, whose two values
are equal, joins one cluster, and without missing cells all of this is the hard EM of LearnSPN.

The functions up to `leaf_intervals` are the definitions, each by itself; `OverlappingEM` is what the learner calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.credal_sets import Intervals
from credo.kernels.overlapping_em import Rows, overlapping_em
from credo.learn.clustering import MOST_CLUSTERS, HardEM, Orders, fixed_penalty
from credo.learn.slices import SMOOTHING, Slice, offsets
from credo.learn.trees import Integers
from credo.learn.workers import ALONE, Workers

Logarithm = Callable[[float], float]


def lower_log_likelihood(
    counts: Sequence[Sequence[int]], known: Sequence[int], row: Sequence[int], smoothing: float = SMOOTHING, log: Logarithm = math.log
) -> float:
    """Return the log-likelihood of the known cells of a row in a cluster.

    Parameters
    ----------
    counts : sequence of sequences of int
        For each column, how many rows of the cluster have each value.
    known : sequence of int
        For each column, how many rows of the cluster have any value.
    row : sequence of int
        Codes, -1 where missing.
    smoothing : float
        Added to every count.
    log : callable
        The logarithm.

    Examples
    --------
    >>> cluster = [40, 0], [30, 6], [5, 33]
    >>> round(lower_log_likelihood(cluster, [40, 36, 38], [0, 0, 1], log=math.log10), 3)
    -0.143
    """
    cells = zip(counts, known, row, strict=True)
    return sum(log((column[code] + smoothing) / (rows + smoothing * len(column))) for column, rows, code in cells if code >= 0)


def worst_case_log_likelihood(
    counts: Sequence[Sequence[int]],
    known: Sequence[int],
    completed: Sequence[Sequence[int]],
    row: Sequence[int],
    smoothing: float = SMOOTHING,
    log: Logarithm = math.log,
) -> float:
    """Return what the upper log-likelihood of a row in a cluster adds to the lower one.

    For each missing cell it is the logarithm of the probability of the rarest value there (the first of several), less, where rows
    of the cluster miss that cell too, the logarithm of the share of them that were completed with this value.

    Parameters
    ----------
    counts, known, row, smoothing, log
        See `lower_log_likelihood`.
    completed : sequence of sequences of int
        For each column, how many rows of the cluster miss the cell and were completed with each value: with the one that was the
        rarest when they joined.

    Examples
    --------
    >>> cluster, completed = ([40, 0], [30, 6], [5, 33]), ([0, 0], [0, 4], [2, 0])
    >>> round(worst_case_log_likelihood(cluster, [40, 36, 38], completed, [0, 0, -1], log=math.log10), 3)
    -0.854
    """
    worst = 0.0
    for column, rows, filled, code in zip(counts, known, completed, row, strict=True):
        if code >= 0:
            continue
        rarest = min(range(len(column)), key=column.__getitem__)
        worst += log((column[rarest] + smoothing) / (rows + smoothing * len(column)))
        if sum(filled) > 0:
            worst -= log((filled[rarest] + smoothing) / (sum(filled) + smoothing * len(column)))
    return worst


def joined_clusters(lower: Sequence[float], upper: Sequence[float], opening: float) -> tuple[list[int], int | None]:
    """Return which clusters a row joins, and the best one among them; none when it opens a new cluster.

    The clusters are looked at in their order, and the best so far is the first with the largest lower value. One that beats
    the best so far becomes the best and drops those before it that fall short of its upper value; one that only beats the upper
    value of the best so far joins it. What an earlier best cluster has kept out stays out.

    Parameters
    ----------
    lower, upper : sequences of float
        The two log-likelihoods of the row in each cluster; equal for a complete row.
    opening : float
        What the best cluster must beat.

    Examples
    --------
    >>> joined_clusters([-3.0, -1.0, -2.0, -2.5], [-3.5, -2.2, -2.1, -9.0], opening=-8.0)
    ([1, 2], 1)
    >>> joined_clusters([-3.0, -1.0], [-3.0, -1.0], opening=-0.5)
    ([], None)
    """
    joined: list[int] = []
    best, best_lower, best_upper = None, opening, opening
    for cluster, (low, up) in enumerate(zip(lower, upper, strict=True)):
        if low > best_lower:
            best, best_lower, best_upper = cluster, low, up
            joined = [other for other in joined if lower[other] >= best_upper]
            joined.append(cluster)
        elif low > best_upper:
            joined.append(cluster)
    return joined, best


def weight_intervals(complete: ArrayLike, members: ArrayLike, rows: int, best: ArrayLike | None = None) -> Intervals:
    """Return the weights of the clusters that the rows of a slice fall into, tightened.

    Parameters
    ----------
    complete : array-like of int
        How many rows of each cluster miss no cell of the slice: over `rows`, the lower bounds.
    members : array-like of int
        How many rows each cluster has: over `rows`, the upper bounds.
    rows : int
        How many rows the slice has.
    best : array-like of int, optional
        How many rows are most likely in each cluster, each row counted once: over `rows`, the centre.

    Examples
    --------
    >>> weight_intervals([10, 10, 10, 10, 10], [40, 10, 10, 10, 10], 80)
    Intervals([0.5, 0.125, 0.125, 0.125, 0.125], [0.5, 0.125, 0.125, 0.125, 0.125])
    """
    lower, upper = np.asarray(complete) / rows, np.asarray(members) / rows
    return Intervals(lower, upper, None if best is None else np.asarray(best) / rows).tightened()


def leaf_intervals(column: ArrayLike, n_values: int, smoothing: float = 0.0) -> Intervals:
    """Return the probabilities of the values of a column: known cells for certain, missing ones perhaps.

    Parameters
    ----------
    column : array-like of int
        Codes, -1 where missing.
    n_values : int
        How many values the column has.
    smoothing : float
        Added to the count of every value.

    Examples
    --------
    >>> leaf_intervals([1, 0, 1, -1], 2)
    Intervals([0.25, 0.5], [0.5, 0.75])
    """
    codes = np.asarray(column)
    return Intervals.from_counts(np.bincount(codes[codes >= 0], minlength=n_values), int((codes < 0).sum()), smoothing)


def becomes_leaves(part: Slice, fewest_rows: int = 4) -> bool:
    """Tell whether a slice is not clustered any further: it has one column, few complete rows, or only equal ones.

    Without this the rows with many gaps, which are put into nearly every cluster at every level, would multiply without end.
    """
    if len(part.columns) == 1 or len(part.rows) <= fewest_rows:
        return True
    codes = _codes(part)
    complete = codes[(codes >= 0).all(axis=1)]
    return len(complete) <= fewest_rows or bool((complete == complete[0]).all())


@dataclass(frozen=True, slots=True, eq=False)
class Memberships:
    """Which clusters the rows of a slice are in.

    Parameters
    ----------
    first, clusters : int arrays
        Row i is in the clusters `clusters[first[i]:first[i + 1]]`, ascending; they are numbered 0, 1, ...
    best : int array
        The one of them where the row is most likely.
    complete : bool array
        Which rows miss no cell of the slice.
    """

    first: NDArray[np.int64]
    clusters: NDArray[np.int32]
    best: NDArray[np.int32]
    complete: NDArray[np.bool_]

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.clusters.max()) + 1

    def rows(self) -> list[NDArray[np.int64]]:
        """Return the rows of each cluster, ascending."""
        row = np.repeat(np.arange(len(self.best)), np.diff(self.first))
        members = np.bincount(self.clusters)
        return np.split(row[np.argsort(self.clusters, kind="stable")], np.cumsum(members)[:-1])

    def weights(self) -> Intervals:
        """Return the weights of the clusters; their centre counts every row once, in its best cluster."""
        n = self.n_clusters
        complete = np.bincount(self.best[self.complete], minlength=n)
        return weight_intervals(complete, np.bincount(self.clusters), len(self.best), np.bincount(self.best, minlength=n))

    def parts(self, part: Slice) -> list[Slice]:
        """Return the slices that the clusters are."""
        return [
            Slice(part.table, part.rows[rows], part.columns, (*part.path, number), tested=False) for number, rows in enumerate(self.rows())
        ]


@dataclass(frozen=True, slots=True, order=True)
class _Outcome:
    """What a restart ended with; the greatest is the best."""

    settled: bool
    score: int
    minus_restart: int
    memberships: Memberships = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlappingEM:
    """Online hard EM over a naive Bayes mixture in which a row with missing cells may be in several clusters.

    Each pass visits all rows in one random order. A row is taken out of all its clusters; those left empty disappear. Then it joins
    the clusters that `joined_clusters` names, by its lower and upper values there, or opens a new one when no lower value is better
    than a threshold: the log-likelihood of a complete row in a cluster of its equals, less the penalty. In each cluster its missing
    cells are completed with the value that is rarest there just then.

    A threshold that leaves all complete rows in one cluster is too low, and one that makes more clusters than a quarter of the rows
    too high; both are dealt with as in `HardEM`. So the complete rows are always divided, and clusters of clusters come to an end.

    The best restart wins, the first of equals, by `sum log sum_c share_c p_c(known cells)` over the rows, less what the clusters cost:
    p_c counts all rows of cluster c, and share_c is its share of all memberships. On complete rows all of it is `HardEM`, to the
    bit; slices of complete rows are left to it, as it is up to three times faster.

    Parameters
    ----------
    cluster_penalty : float
        What a cluster costs, per column, in nats: the larger, the fewer clusters.
    restarts, passes : int
        How many random orders, and how often each visits every row.
    carry_threshold : bool
        Halve and keep the threshold as published. Restarts then depend on each other and are not shared among workers.
    most_clusters : int or None
        In how many clusters a row may be: those where its lower value is largest. None is any number, as published: rows with
        many gaps then are in nearly all clusters, and keep alive those that every complete row has left.
    """

    cluster_penalty: float = 0.6
    restarts: int = 10
    passes: int = 4
    carry_threshold: bool = False
    most_clusters: int | None = 16

    def cluster(self, part: Slice, random_state: int, workers: Workers = ALONE) -> Memberships:
        """Return the clusters of the rows of a slice; one cluster when its complete rows are all equal, or none is complete."""
        codes = _codes(part)
        complete: NDArray[np.bool_] = np.all(codes >= 0, axis=1)
        if complete.all():
            hard = HardEM(
                cluster_penalty=self.cluster_penalty,
                restarts=self.restarts,
                passes=self.passes,
                carry_threshold=self.carry_threshold,
            )
            return _one_each(hard.cluster(part, random_state, workers), complete)
        told = codes[complete]
        if not len(told) or (told == told[0]).all():
            return _one_each(np.zeros(len(codes), np.int32), complete)
        rows = rows_of(part, codes)
        one_by_one = [[restart] for restart in range(self.restarts)]
        shares = [range(self.restarts)] if workers.n == 1 or self.carry_threshold else one_by_one
        return max(workers.map(partial(self._best, part, rows, random_state), shares)).memberships

    def _best(self, part: Slice, rows: Rows, random_state: int, restarts: Iterable[int]) -> _Outcome:
        """Return the best of some restarts."""
        columns = len(part.columns)
        penalty = fixed_penalty(self.cluster_penalty, part)
        opening = columns * int(rows.log_count[1]) - int(rows.log_total[rows.kind, 1].sum(dtype=np.int64)) - penalty
        best: list[_Outcome] = []
        orders = Orders(part, random_state)
        for restart in restarts:
            order = orders.of(restart)
            if self.carry_threshold:
                found, opening = self._run(order, rows, opening, penalty, -restart, halve=True)
            else:
                found = self._settle(order, rows, opening, penalty, -restart)
            best = [max([*best, found])]
        return best[0]

    def _run(
        self, order: NDArray[np.int32], rows: Rows, opening: int, penalty: int, minus_restart: int, halve: bool
    ) -> tuple[_Outcome, int]:
        """Return one outcome, settled where it divides the complete rows, and the last threshold."""
        most = np.iinfo(np.int64).max if self.most_clusters is None else self.most_clusters
        first, slots, best_slot, likelihood, divided, opening = overlapping_em(order, rows, opening, self.passes, most, halve)
        used = np.bincount(slots) > 0
        number = np.cumsum(used, dtype=np.int32) - 1
        complete = np.diff(rows.gap_starts) == 0
        memberships = Memberships(first, number[slots], number[best_slot], complete)
        return _Outcome(bool(divided), int(likelihood) - penalty * int(used.sum()), minus_restart, memberships), int(opening)

    def _settle(self, order: NDArray[np.int32], rows: Rows, opening: int, penalty: int, minus_restart: int) -> _Outcome:
        """Return the outcome of the first fit threshold on the way from `opening`, not settled where there is none."""
        low = high = None  # thresholds that do not divide the complete rows, and that make too many clusters
        crowded = None
        while True:
            found, _ = self._run(order, rows, opening, penalty, minus_restart, halve=False)
            if not found.settled:
                low = opening
            elif found.memberships.n_clusters > MOST_CLUSTERS * len(order):
                high, crowded = opening, replace(found, settled=False)
            else:
                return found
            if low is None:
                opening *= 2
            elif high is None:
                opening = -(-opening // 2)
            elif crowded is not None and high - low <= max(-low // 10, 1):
                return crowded
            else:
                opening = (low + high) // 2


def _one_each(labels: NDArray[np.int32], complete: NDArray[np.bool_]) -> Memberships:
    return Memberships(np.arange(len(labels) + 1), labels, labels, complete)


def _codes(part: Slice) -> NDArray[np.signedinteger]:
    codes: NDArray[np.signedinteger] = part.table.codes[np.ix_(part.rows, part.columns)]
    return codes


def rows_of(part: Slice, codes: NDArray[np.signedinteger]) -> Rows:
    """Return the rows of a slice as the kernel wants them; `codes` are their cells."""
    first_value = offsets(part.n_values)
    common = np.array([counts.argmax() for counts in np.split(part.counts, first_value[1:-1])], np.int32)
    missing = codes < 0
    other = (codes != common) & ~missing
    columns = np.nonzero(other)[1].astype(np.int32)
    return Rows(
        codes=codes,
        first_value=first_value,
        common=first_value[:-1] + common,
        starts=_offsets_64(other.sum(axis=1)),
        others=first_value[columns] + codes[other],
        gap_starts=_offsets_64(missing.sum(axis=1)),
        gaps=np.nonzero(missing)[1].astype(np.int32),
        log_count=part.table.log_count,
        log_total=part.table.log_total,
        kind=np.searchsorted(part.table.kinds, part.n_values),
    )


def _offsets_64(lengths: Integers) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
