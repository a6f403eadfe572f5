"""Which columns of a slice depend on each other: the G test of every pair.

To add a test, write a frozen dataclass with a method `dependence(slice) -> bool matrix`; groups of columns are the connected
components of that matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.kernels.dependence import FEWEST_PAIRS, KNOWN, PRINTED, SUMS, bit_sets, dependent_pairs, dependent_pairs_with_gaps
from credo.learn.slices import Slice, offsets
from credo.learn.workers import ALONE, Workers

WAYS = {"sums": SUMS, "printed": PRINTED, "known": KNOWN}
FEWEST_TO_SHARE = 64  # columns; the pairs of fewer are tested while the others are told


class IndependenceTest(Protocol):
    """Decides which columns depend on each other."""

    def dependence(self, part: Slice, workers: Workers = ALONE) -> NDArray[np.bool_]:
        """Return a symmetric matrix that is true where two columns of the slice depend on each other."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GTest:
    """The G test: a pair is independent when `G < 2 * degrees of freedom * g_factor + 0.001`.

    `G = 2 sum c(x,y) ln(c(x,y) n / (c(x) c(y)))`; the degrees of freedom come from the values that occur.

    Parameters
    ----------
    g_factor : float
        The larger, the more pairs are independent.
    counts : {"sums", "printed", "known"}
        Where cells are missing. "known": only rows in which both cells are known count, and in slices with gaps there must be twenty
        of them. Otherwise a row with one of the two missing
        counts with equal parts for each value there, one with both missing not at all. "sums": the marginals are the sums of these
        mean counts of the pairs and n is their total. "printed": a marginal is the mean of the rows that surely and that possibly
        have the value, and n the rows of the slice.
    """

    g_factor: float = 10.0
    counts: Literal["sums", "printed", "known"] = "sums"

    def dependence(self, part: Slice, workers: Workers = ALONE) -> NDArray[np.bool_]:
        """Return a symmetric matrix that is true where two columns of the slice depend on each other."""
        counts, first_value = part.counts, part.first_value
        known = np.add.reduceat(counts, first_value[:-1])
        if known.min() < len(part.rows):
            bits = bit_sets(part.table.codes, part.rows, part.columns, first_value, 0)
            test = partial(dependent_pairs_with_gaps, bits, first_value, counts, len(part.rows), WAYS[self.counts], self.g_factor)
            return _any_of(workers, test, len(known))
        dependent = np.zeros((len(part.columns), len(part.columns)), np.bool_)
        varying = np.maximum.reduceat(counts, first_value[:-1]) < len(part.rows)
        n_values = part.n_values[varying]
        if not len(n_values):
            return dependent
        first_bit = offsets(n_values - 1)
        bits = bit_sets(part.table.codes, part.rows, part.columns[varying], first_bit, 1)
        own_counts = counts[np.repeat(varying, part.n_values)]
        test = partial(dependent_pairs, bits, first_bit, own_counts, len(part.rows), part.table.entropy_terms, self.g_factor)
        dependent[np.ix_(varying, varying)] = _any_of(workers, test, len(n_values))
        return dependent


def _any_of(workers: Workers, test: Callable[[int, int], NDArray[np.bool_]], columns: int) -> NDArray[np.bool_]:
    """Return which pairs of columns a test finds, every worker taking each so many-th column where it pays."""
    if workers.n == 1 or columns < FEWEST_TO_SHARE:
        return test(0, 1)
    return np.logical_or.reduce(list(workers.map(test, range(workers.n), [workers.n] * workers.n)))


def rarely_known_together(part: Slice) -> list[tuple[int, int, int]]:
    """Return the pairs of columns with fewer than `FEWEST_PAIRS` rows that know both, and how many these are, the fewest first.

    Columns without any known cell are in no pair; nothing can be learned of them whatever the others hold.
    """
    known = len(part.rows) - part.missing
    if len(part.rows) < FEWEST_PAIRS or np.sort(known)[:2].sum() - len(part.rows) >= FEWEST_PAIRS:
        return []  # few rows, gaps or not, tell little; and where gaps are few, some rows know both
    together = np.zeros((len(known), len(known)))
    for block in np.array_split(part.rows, max(len(part.rows) // 4096, 1)):
        cells = (part.table.codes[np.ix_(block, part.columns)] >= 0).astype(np.float32)
        together += cells.T @ cells
    few = np.triu((together < FEWEST_PAIRS) & (known > 0) & (known > 0)[:, None], 1)
    pairs = [(int(part.columns[i]), int(part.columns[j]), int(together[i, j])) for i, j in zip(*np.nonzero(few), strict=True)]
    return sorted(pairs, key=lambda pair: pair[2])


def g_statistic(table: ArrayLike, row_marginals: ArrayLike, column_marginals: ArrayLike, n: float) -> float:
    """Return `2 sum t(x,y) ln(t(x,y) n / (r(x) c(y)))` of a given table, its marginals and its total, which need not agree.

    Examples
    --------
    >>> round(g_statistic([[10, 20], [30, 5]], [30, 35], [40, 25], 65), 4)
    19.7172
    """
    cells = np.asarray(table, float)
    expected = np.multiply.outer(np.asarray(row_marginals, float), np.asarray(column_marginals, float)) / n
    met = cells > 0
    return float(2 * np.sum(cells[met] * np.log(cells[met] / expected[met])))
