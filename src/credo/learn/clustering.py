"""How the rows of a slice fall into clusters.

To add a clustering, write a frozen dataclass with a method `cluster(slice, random_state, workers) -> labels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from credo.kernels.counting import common_values, count_items, list_items
from credo.kernels.fixed_logs import ONE
from credo.kernels.hard_em import best_of_restarts
from credo.learn.membership import FrozenClusters
from credo.learn.slices import CodeTable, Slice, offsets
from credo.learn.trees import Cluster
from credo.learn.workers import ALONE, Workers


class Clustering(Protocol):
    """Decides which rows belong together."""

    def cluster(self, part: Slice, random_state: int, workers: Workers = ALONE) -> NDArray[np.int32]:
        """Return a label 0, 1, ... for each row of the slice, drawing random numbers by `random_state` and the slice's path."""
        ...


ORDERS_AT_ONCE = 1 << 15  # rows of all orders given to the kernel together
MOST_CLUSTERS = 0.25  # of the rows; what ends with more has not found clusters but taken rows for clusters


@dataclass(frozen=True, slots=True, kw_only=True)
class HardEM:
    """Online hard EM over a naive Bayes mixture with an unknown number of clusters.

    Each pass visits all rows in one random order. A row leaves its cluster and joins the one where it is most likely, or
    opens a new one when none is better than a threshold: the log-likelihood of a row in a cluster of its equals, less the penalty.

    A threshold may be unfit for a slice: too low, and one cluster is left after a pass, or too high, and there are more clusters
    than a quarter of the rows. Then it is halved or doubled, or set midway once both sides are known, and the restart begins anew,
    until the two sides are within a tenth of each other. The best restart by penalised log-likelihood of the mixture wins, the
    first of equals; a restart that ended with too many clusters loses to any other.

    As published, a threshold is only halved, the passes go on from the one cluster, and the halved threshold is kept for the
    restarts that follow: on tables with noisy rows (DNA) the later restarts may then make a cluster of each row. Not keeping it
    but going on from the one cluster peels rows off that cluster one by one (BBC: 1.1 million nodes instead of 0.3).

    Parameters
    ----------
    cluster_penalty : float
        What a cluster costs, per column, in nats: the larger, the fewer clusters.
    restarts, passes : int
        How many random orders, and how often each visits every row.
    carry_threshold : bool
        Halve and keep the threshold as published. Restarts then depend on each other and are not shared among workers.
    """

    cluster_penalty: float = 0.6
    restarts: int = 10
    passes: int = 4
    carry_threshold: bool = False

    def cluster(self, part: Slice, random_state: int, workers: Workers = ALONE) -> NDArray[np.int32]:
        """Return a label for each row of a slice without missing cells; one label for all only when all rows are equal."""
        rows = _ItemRows.of(part)
        if not len(rows.items):
            return np.zeros(len(part.rows), np.int32)
        one_by_one = [[restart] for restart in range(self.restarts)]
        shares = [range(self.restarts)] if workers.n == 1 or self.carry_threshold else one_by_one
        return max(workers.map(partial(self._best, part, rows, random_state), shares)).labels.astype(np.int32)

    def _best(self, part: Slice, rows: _ItemRows, random_state: int, restarts: Sequence[int]) -> _Outcome:
        """Return the best of some restarts."""
        table = part.table
        penalty = fixed_penalty(self.cluster_penalty, part)
        opening = len(part.columns) * int(table.log_count[1]) - int(rows.kinds @ table.log_total[:, 1]) - penalty
        layout = (rows.starts, rows.items, rows.first_item, table.log_count, table.log_total, rows.kinds)
        most = int(MOST_CLUSTERS * len(part.rows))
        # Many orders a call where they are short: what surrounds a call costs as much as clustering a hundred rows.
        at_once = len(restarts) if self.carry_threshold else max(1, ORDERS_AT_ONCE // len(part.rows))
        orders = Orders(part, random_state)
        best = None
        for first in range(0, len(restarts), at_once):
            numbers = restarts[first : first + at_once]
            here = orders.of(numbers[0])[None] if len(numbers) == 1 else np.stack([orders.of(number).copy() for number in numbers])
            found = best_of_restarts(here, *layout, opening, self.passes, penalty, most, self.carry_threshold)
            labels = found[3].astype(np.min_scalar_type(found[3].max()))  # kept while other orders are tried
            outcome = _Outcome(bool(found[0]), int(found[1]), -numbers[int(found[2])], labels)
            best = outcome if best is None else max(best, outcome)
        assert best is not None
        return best


def fixed_penalty(cluster_penalty: float, part: Slice) -> int:
    """Return what a cluster costs, in fixed point; no more than one cluster could ever be worth, with room for sums of it."""
    most = (1 << 60) // (2 * max(len(part.rows), 1))
    return min(round(min(cluster_penalty * len(part.columns), 2.0**39) * ONE), most)


class Orders:
    """Random orders of the rows of a slice, one for each restart, drawn one after the other from one generator of numbers."""

    def __init__(self, part: Slice, random_state: int) -> None:
        self._rng = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=part.path))
        self._order = np.arange(len(part.rows), dtype=np.int32)
        self._drawn = 0

    def of(self, restart: int) -> NDArray[np.int32]:
        """Return the order of a restart, none before the last one asked for; the array is shuffled again for the next one."""
        while self._drawn <= restart:
            self._rng.shuffle(self._order)
            self._drawn += 1
        return self._order


@dataclass(frozen=True, slots=True)
class OnGuides:
    """A clustering of complete rows, for slices in which cells are missing.

    Some rows are guides: the complete ones where they are at least half of all, else those that know at least as many cells as half
    of the rows do, with the most common value of the column where they miss a cell. They are clustered; then every other row joins the
    cluster in which its known cells are most likely. So a row with few known cells can neither open a cluster nor rule one.

    Parameters
    ----------
    clustering : Clustering
        What divides the guides.
    """

    clustering: Clustering

    def cluster(self, part: Slice, random_state: int, workers: Workers = ALONE) -> NDArray[np.int32]:
        """Return a label for each row of a slice."""
        if not part.has_gaps:
            return self.clustering.cluster(part, random_state, workers)
        codes = part.table.codes[np.ix_(part.rows, part.columns)]
        known = (codes >= 0).sum(axis=1)
        complete = known == len(part.columns)
        guides = complete if 2 * complete.sum() >= len(known) else known >= max(np.median(known), 1)
        if not guides.any():
            return np.zeros(len(known), np.int32)
        common = common_values(part.counts, part.first_value).astype(codes.dtype)
        filled = CodeTable(np.where(codes[guides] < 0, common, codes[guides]), part.n_values)
        found = self.clustering.cluster(replace(filled.whole(), path=part.path), random_state, workers)
        if not found.any() and not guides.all():  # the guides are alike, and others are not
            guides = np.ones(len(known), np.bool_)
            filled = CodeTable(np.where(codes < 0, common, codes), part.n_values)
            found = self.clustering.cluster(replace(filled.whole(), path=part.path), random_state, workers)
        labels = np.empty(len(known), np.int32)
        labels[guides] = found
        if guides.all() or not found.any():
            labels[~guides] = 0
            return labels
        parts = Slice(part.table, part.rows[guides], part.columns).clusters(found)
        clusters = tuple(Cluster(len(one.rows), one.counts, one.rows) for one in parts)
        others = FrozenClusters.of(part.columns, part.n_values, clusters).scores(part.table.codes, part.rows[~guides])
        labels[~guides] = others.argmax(axis=1)
        return labels


@dataclass(frozen=True, slots=True, order=True)
class _Outcome:
    """What a restart ended with; the greatest is the best."""

    settled: bool
    score: int
    minus_restart: int
    labels: NDArray[np.integer] = field(compare=False)


@dataclass(frozen=True, slots=True)
class _ItemRows:
    """The rows of a slice as the kernels want them: only the cells that differ from their column's most common value."""

    starts: NDArray[np.signedinteger]
    items: NDArray[np.unsignedinteger]
    first_item: NDArray[np.int32]
    kinds: NDArray[np.int64]

    @classmethod
    def of(cls, part: Slice) -> _ItemRows:
        common = common_values(part.counts, part.first_value)
        first_item = offsets(part.n_values - 1)
        place = part.table.codes, part.rows, part.columns, common
        position, item = part.table.item_types
        starts = np.empty(len(part.rows) + 1, position)
        count_items(*place, starts)
        items = np.empty(starts[-1], item)
        list_items(*place, first_item, items)
        kinds = np.bincount(np.searchsorted(part.table.kinds, part.n_values), minlength=len(part.table.kinds))
        return cls(starts, items, first_item, kinds)
