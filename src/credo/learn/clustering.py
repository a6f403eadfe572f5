"""How the rows of a slice fall into clusters.

To add a clustering, write a frozen dataclass with a method `cluster(slice, random_state, parallel) -> labels`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from credo.kernels.counting import common_values, count_items, list_items
from credo.kernels.fixed_logs import EXP_LOWER, EXP_UPPER, ONE
from credo.kernels.hard_em import hard_em, mixture_score
from credo.learn.slices import Slice, offsets


class Clustering(Protocol):
    """Decides which rows belong together."""

    def cluster(self, part: Slice, random_state: int, parallel: Parallel | None = None) -> NDArray[np.int32]:
        """Return a label 0, 1, ... for each row of the slice, drawing random numbers by `random_state` and the slice's path."""
        ...


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

    def cluster(self, part: Slice, random_state: int, parallel: Parallel | None = None) -> NDArray[np.int32]:
        """Return a label for each row of a slice without missing cells; one label for all only when all rows are equal."""
        rows = _ItemRows.of(part)
        if not len(rows.items):
            return np.zeros(len(part.rows), np.int32)
        if parallel is None or self.carry_threshold:
            return self._best(part, rows, random_state, range(self.restarts)).labels
        shares = [range(k, self.restarts, parallel.n_jobs) for k in range(min(parallel.n_jobs, self.restarts))]
        return max(parallel(delayed(self._best)(part, rows, random_state, share) for share in shares)).labels

    def _best(self, part: Slice, rows: _ItemRows, random_state: int, restarts: Iterable[int]) -> _Outcome:
        """Return the best of some restarts."""
        table = part.table
        penalty = round(self.cluster_penalty * len(part.columns) * ONE)
        opening = len(part.columns) * int(table.log_count[1]) - int(rows.kinds @ table.log_total[:, 1]) - penalty
        layout = (rows.starts, rows.items, rows.first_item, table.log_count, table.log_total, rows.kinds)
        best: _Outcome | None = None
        for restart in restarts:
            seed = np.random.SeedSequence(random_state, spawn_key=(*part.path, restart))
            order = np.random.default_rng(seed).permutation(len(part.rows))
            if self.carry_threshold:
                labels, clusters, opening = hard_em(order, *layout, opening, self.passes, True)
                settled = True
            else:
                labels, clusters, settled = self._settle(order, layout, opening)
            score = mixture_score(labels, clusters, *layout, table.log_size, EXP_UPPER, EXP_LOWER) - penalty * clusters
            found = _Outcome(settled, score, -restart, labels)
            best = found if best is None else max(best, found)
        assert best is not None
        return best

    def _settle(self, order: NDArray[np.int64], layout: tuple[Any, ...], opening: int) -> tuple[NDArray[np.int32], int, bool]:
        """Return the labels, their number and whether that is acceptable, for the first fit threshold on the way from `opening`."""
        low = high = None  # thresholds that leave one cluster, and that make too many
        crowded = None
        while True:
            labels, clusters, _ = hard_em(order, *layout, opening, self.passes, False)
            if clusters == 1:
                low = opening
            elif clusters > MOST_CLUSTERS * len(order):
                high, crowded = opening, (labels, clusters, False)
            else:
                return labels, clusters, True
            if low is None:
                opening *= 2
            elif high is None:
                opening = -(-opening // 2)
            elif crowded is not None and high - low <= max(-low // 10, 1):
                return crowded
            else:
                opening = (low + high) // 2


@dataclass(frozen=True, slots=True, order=True)
class _Outcome:
    """What a restart ended with; the greatest is the best."""

    settled: bool
    score: int
    minus_restart: int
    labels: NDArray[np.int32] = field(compare=False)


@dataclass(frozen=True, slots=True)
class _ItemRows:
    """The rows of a slice as the kernels want them: only the cells that differ from their column's most common value."""

    starts: NDArray[np.int64]
    items: NDArray[np.unsignedinteger]
    first_item: NDArray[np.int32]
    kinds: NDArray[np.int64]

    @classmethod
    def of(cls, part: Slice) -> _ItemRows:
        common = common_values(part.counts, part.first_value)
        first_item = offsets(part.n_values - 1)
        place = part.table.codes, part.rows, part.columns, common
        starts = count_items(*place)
        # A cell takes two bytes where it can: of a table of eight-bit codes with many values nearly all cells are items.
        items = np.empty(starts[-1], np.uint16 if first_item[-1] <= 1 << 16 else np.uint32)
        list_items(*place, first_item, items)
        kinds = np.bincount(np.searchsorted(part.table.kinds, part.n_values), minlength=len(part.table.kinds))
        return cls(starts, items, first_item, kinds)
