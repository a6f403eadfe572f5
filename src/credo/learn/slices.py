"""The table a structure is learned from, and the slices (some rows, some columns) that learning cuts it into.

A slice holds no cells, only which rows and columns are its own: the slices that wait are rows of row numbers, each row of the
table being in as many of them as there are groups of columns, and cells are read where they lie.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credo.kernels.counting import by_label, known_cells, rows_with_gaps, value_counts, value_counts_of_runs
from credo.kernels.fixed_logs import MOST_TABLED, entropy_terms, shifted_logs
from credo.learn.trees import Integers, Leaves

UNCOUNTED: NDArray[np.int64] = np.empty(0, np.int64)
SMOOTHING = 0.1  # added to every count while rows are clustered; leaves and weights are smoothed by other rules


class CodeTable:
    """Integer codes 0 .. K-1 with -1 for missing, and the logarithms of every count that can occur in them.

    Parameters
    ----------
    codes : int array of shape (rows, columns)
        Kept as it is where its type is a small signed integer, with rows that lie together; eight bits a cell are best.
    n_values : int array
        The number of values K of each column, at least one.
    """

    def __init__(self, codes: Integers, n_values: Integers) -> None:
        self.codes = np.ascontiguousarray(codes)
        self.n_values = np.asarray(n_values, np.int32)
        self.kinds = np.unique(self.n_values)  # columns of a kind are alike in their number of values

    @cached_property
    def item_types(self) -> tuple[type[np.signedinteger], type[np.unsignedinteger]]:
        """The smallest types for a position among all cells, and for the number of a value of any column.

        With one byte and four, the rows of a slice take less memory than its cells where less than half of these differ from the
        column's common value. All slices of a table have the same types, as kernels are compiled for each anew.
        """
        values = int(self.n_values.sum())
        item = np.uint8 if values <= 1 << 8 else np.uint16 if values <= 1 << 16 else np.uint32
        return np.int32 if self.codes.size < 1 << 31 else np.int64, item

    @cached_property
    def log_count(self) -> NDArray[np.int32]:
        """The logarithm of each smoothed count."""
        return shifted_logs(len(self.codes) + 1, SMOOTHING)

    @cached_property
    def log_total(self) -> NDArray[np.int32]:
        """By kind of column, the logarithm of each smoothed number of rows."""
        return np.stack([shifted_logs(len(self.codes) + 1, SMOOTHING * k) for k in self.kinds])

    @cached_property
    def entropy_terms(self) -> NDArray[np.int64]:
        """`c ln c` of each count, up to the largest that is looked up."""
        return entropy_terms(min(len(self.codes) + 1, MOST_TABLED))

    def whole(self) -> Slice:
        """Return the slice of all rows and columns."""
        rows, columns = self.codes.shape
        return Slice(self, np.arange(rows, dtype=np.int32), np.arange(columns, dtype=np.int32))


@dataclass(frozen=True, eq=False)
class Slice:
    """Some rows and columns of a table.

    Parameters
    ----------
    table : CodeTable
    rows, columns : int arrays
        Which ones, ascending.
    path : tuple of int
        Which child of which child of the whole table this is; random numbers are drawn by it.
    tested : bool
        Whether the columns are known not to fall into independent groups.
    counts : int array
        How many rows have each value, the columns one after the other; counted unless given.
    """

    table: CodeTable
    rows: Integers
    columns: Integers
    path: tuple[int, ...] = ()
    tested: bool = True
    counts: NDArray[np.int64] = field(default_factory=lambda: UNCOUNTED)

    def __post_init__(self) -> None:
        if self.counts is UNCOUNTED:
            object.__setattr__(self, "counts", value_counts(self.table.codes, self.rows, self.columns, self.first_value))

    @cached_property
    def n_values(self) -> NDArray[np.int32]:
        """The number of values of each column."""
        return self.table.n_values[self.columns]

    @cached_property
    def first_value(self) -> NDArray[np.int32]:
        """Where the values of each column begin when all values of all columns lie one after the other."""
        return offsets(self.n_values)

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """How many rows miss the cell of each column."""
        return len(self.rows) - np.add.reduceat(self.counts, offsets(self.n_values)[:-1])

    @cached_property
    def has_gaps(self) -> bool:
        """Whether any cell is missing."""
        return bool(self.missing.any())

    @property
    def complete_rows(self) -> Integers:
        """The rows that miss no cell."""
        return self.rows[~rows_with_gaps(self.table.codes, self.rows, self.columns)] if self.has_gaps else self.rows

    @property
    def n_telling_rows(self) -> int:
        """How many rows know at least half of the cells: the others say little about which cluster they are in."""
        if not self.has_gaps:
            return len(self.rows)
        return int((2 * known_cells(self.table.codes, self.rows, self.columns) >= len(self.columns)).sum())

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.rows) * len(self.columns)

    def leaves(self) -> Leaves:
        """Return the columns as independent ones."""
        return Leaves(self.columns, self.counts, self.missing if self.has_gaps else None)

    def leaves_of(self, chosen: NDArray[np.bool_]) -> Leaves:
        """Return the chosen columns as independent ones."""
        missing = self.missing[chosen] if self.has_gaps else None
        return Leaves(self.columns[chosen], self.counts[np.repeat(chosen, self.n_values)], missing)

    def group(self, number: int, chosen: NDArray[np.bool_]) -> Slice:
        """Return the slice of the chosen columns, which are known to depend on each other."""
        counts = self.counts[np.repeat(chosen, self.n_values)]
        return Slice(self.table, self.rows, self.columns[chosen], (*self.path, number), tested=True, counts=counts)

    def clusters(self, labels: Integers) -> list[Slice]:
        """Return the slice of the rows with each of the labels 0, 1, ..."""
        ordered, ends = by_label(self.rows, labels, int(labels.max()) + 1)
        counts = value_counts_of_runs(self.table.codes, ordered, ends, self.columns, self.first_value)
        parts = np.split(ordered, ends[:-1])
        return [
            Slice(self.table, rows, self.columns, (*self.path, number), tested=False, counts=own)
            for number, (rows, own) in enumerate(zip(parts, counts, strict=True))
        ]


def offsets(lengths: Integers) -> NDArray[np.int32]:
    """Return where each of several runs begins when they lie one after the other, and where the last one ends."""
    ends = np.zeros(len(lengths) + 1, np.int32)
    lengths.cumsum(out=ends[1:])
    return ends
