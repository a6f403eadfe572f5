"""Counts over a slice of a table: of every value, and the cells that differ from their column's most common value."""

from __future__ import annotations

import numpy as np

from credo.kernels.jit import kernel


@kernel
def value_counts(codes, rows, columns, first_value):
    """Count the rows with each value, the columns one after the other; missing cells (-1) are not counted."""
    counts = np.zeros(first_value[-1], np.int64)
    for row in rows:
        for v in range(len(columns)):
            code = codes[row, columns[v]]
            if code >= 0:
                counts[first_value[v] + code] += 1
    return counts


@kernel
def common_values(counts, first_value):
    """Return the most common value of each column, the first of equals."""
    common = np.zeros(len(first_value) - 1, np.int32)
    for v in range(len(common)):
        for at in range(first_value[v], first_value[v + 1]):
            if counts[at] > counts[first_value[v] + common[v]]:
                common[v] = at - first_value[v]
    return common


@kernel
def count_items(codes, rows, columns, common):
    """Return the positions in the list of items where each row's begin; an item is a cell other than its column's common value."""
    starts = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        items = 0
        for v in range(len(columns)):
            items += codes[rows[i], columns[v]] != common[v]
        starts[i + 1] = starts[i] + items
    return starts


@kernel
def list_items(codes, rows, columns, common, first_item, items):
    """Write the items of all rows; the items of a column are its values in their order, without the common one."""
    t = 0
    for row in rows:
        for v in range(len(columns)):
            code = codes[row, columns[v]]
            if code != common[v]:
                items[t] = first_item[v] + code - (code > common[v])
                t += 1
