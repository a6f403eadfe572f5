"""Which columns of a slice depend on each other: the G test of every pair.

To add a test, write a frozen dataclass with a method `dependence(slice) -> bool matrix`; groups of columns are the connected
components of that matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.kernels.dependence import bit_sets, dependent_pairs, dependent_pairs_with_gaps
from credo.learn.slices import Slice, offsets


class IndependenceTest(Protocol):
    """Decides which columns depend on each other."""

    def dependence(self, part: Slice) -> NDArray[np.bool_]:
        """Return a symmetric matrix that is true where two columns of the slice depend on each other."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GTest:
    """The G test: a pair is independent when `G < 2 * degrees of freedom * g_factor + 0.001`.

    `G = 2 sum c(x,y) ln(c(x,y) n / (c(x) c(y)))`; the degrees of freedom come from the values that occur. A row with one of
    the two cells missing counts with equal parts for each value there; a row with both missing does not count.

    Parameters
    ----------
    g_factor : float
        The larger, the more pairs are independent.
    counts : {"sums", "printed"}
        Where cells are missing. "sums": the marginals are the sums of the mean counts of the pairs and n is their total.
        "printed": a marginal is the mean of the rows that surely and that possibly have the value, and n the rows of the slice.
    """

    g_factor: float = 10.0
    counts: Literal["sums", "printed"] = "sums"

    def dependence(self, part: Slice) -> NDArray[np.bool_]:
        """Return a symmetric matrix that is true where two columns of the slice depend on each other."""
        counts, first_value = part.counts, part.first_value
        known = np.add.reduceat(counts, first_value[:-1])
        if known.min() < len(part.rows):
            bits = bit_sets(part.table.codes, part.rows, part.columns, first_value, 0)
            return dependent_pairs_with_gaps(bits, first_value, counts, len(part.rows), self.counts == "printed", self.g_factor)
        dependent = np.zeros((len(part.columns), len(part.columns)), np.bool_)
        varying = np.maximum.reduceat(counts, first_value[:-1]) < len(part.rows)
        n_values = part.n_values[varying]
        if not len(n_values):
            return dependent
        first_bit = offsets(n_values - 1)
        bits = bit_sets(part.table.codes, part.rows, part.columns[varying], first_bit, 1)
        own_counts = counts[np.repeat(varying, part.n_values)]
        pairs = dependent_pairs(bits, first_bit, own_counts, len(part.rows), part.table.entropy_terms, self.g_factor)
        dependent[np.ix_(varying, varying)] = pairs
        return dependent


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
