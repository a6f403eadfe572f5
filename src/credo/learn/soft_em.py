"""Splitting the rows of a slice in two by EM on their known cells.

A row with few known cells is about as likely in either cluster, so it is shared between them as all rows are and moves neither: it
cannot rule a cluster, and as it is far from no other row it starts none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from credo.kernels.counting import common_values, count_items, known_cells
from credo.kernels.soft_em import differences, item_list, two_clusters
from credo.learn.slices import SMOOTHING, Slice
from credo.learn.workers import ALONE, Workers

MOST_STEPS = 50
TOLERANCE = 1e-4  # nats a row


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftEM:
    """Two clusters of rows by EM, or one where two are not worth what they cost.

    Each restart begins with two rows, the first drawn by how many cells it knows, the second by how many of its known cells differ
    from the first one's, and all rows leaning to the more similar one. The most likely after some steps goes on until it settles. Each
    row joins the cluster in which most of it is.

    Parameters
    ----------
    cluster_penalty : float
        What a cluster costs, per column, in nats: the larger, the fewer clusters.
    restarts : int
        How many beginnings.
    passes : int
        How many steps before all but the best are given up.
    smoothing : float
        So many rows like all rows of the slice are added to each cluster.
    """

    cluster_penalty: float = 0.6
    restarts: int = 10
    passes: int = 4
    smoothing: float = 1.0

    def cluster(self, part: Slice, random_state: int, workers: Workers = ALONE) -> NDArray[np.int32]:
        """Return a label for each row of a slice, which may miss cells; one label for all where two clusters do not pay."""
        rows = _Rows.of(part)
        best = max(workers.map(partial(self._begun, part, rows, random_state), range(self.restarts)))
        if best.share is None:
            return np.zeros(len(part.rows), np.int32)
        likelihood = rows.run(best.share, MOST_STEPS, self.smoothing)
        labels: NDArray[np.int32] = (best.share > 0.5).astype(np.int32)
        pays = likelihood - rows.as_one > self.cluster_penalty * len(part.columns)
        return labels if pays and labels.any() and not labels.all() else np.zeros(len(part.rows), np.int32)

    def _begun(self, part: Slice, rows: _Rows, random_state: int, restart: int) -> _Outcome:
        """Return what a beginning has come to after some steps."""
        codes = part.table.codes
        rng = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(*part.path, restart)))
        first = np.searchsorted(rows.known, rng.integers(rows.known[-1]), side="right") if rows.known[-1] else 0
        far = differences(codes, part.rows, part.columns, part.rows[first])
        if not far.any():
            return _Outcome(-np.inf, -restart, None)
        # The place of a number drawn among all differences, laid one behind the other: exact, whatever the number of rows.
        second = np.searchsorted(np.cumsum(far), rng.integers(far.sum()), side="right")
        near = differences(codes, part.rows, part.columns, part.rows[second])
        share = np.where(near < far, 0.9, np.where(near > far, 0.1, 0.5))
        return _Outcome(rows.run(share, self.passes, self.smoothing), -restart, share)


@dataclass(frozen=True, slots=True, order=True)
class _Outcome:
    """What a beginning has come to; the greatest is the best."""

    likelihood: float
    minus_restart: int
    share: NDArray[np.float64] | None = field(compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of a slice as the kernel wants them, and their log-likelihood as one cluster."""

    part: Slice
    common: NDArray[np.int32]
    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    known: NDArray[np.int64]  # cells that rows know, added up from the first row on
    as_one: float

    @classmethod
    def of(cls, part: Slice) -> _Rows:
        common = common_values(part.counts, part.first_value)
        starts = np.empty(len(part.rows) + 1, np.int64)
        count_items(part.table.codes, part.rows, part.columns, common, starts)
        items = item_list(part.table.codes, part.rows, part.columns, common, part.first_value, starts)
        known = np.repeat(len(part.rows) - part.missing, part.n_values)
        shares = (part.counts + SMOOTHING) / (known + SMOOTHING * np.repeat(part.n_values, part.n_values))
        all_known = np.cumsum(known_cells(part.table.codes, part.rows, part.columns))
        return cls(part, part.first_value[:-1] + common, starts, items, all_known, float(part.counts @ np.log(shares)))

    def run(self, share: NDArray[np.float64], steps: int, smoothing: float, tolerance: float = TOLERANCE) -> float:
        """Take steps of EM from the shares, which are overwritten, and return the log-likelihood."""
        part = self.part
        return two_clusters(
            *(self.starts, self.items, self.common, part.first_value, part.counts, part.missing),
            *(share, steps, tolerance, smoothing, SMOOTHING),
        )
