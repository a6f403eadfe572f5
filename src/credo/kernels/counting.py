"""Counts over a slice of a table: of every value, and the cells that differ from their column's most common value."""

from __future__ import annotations

import numpy as np

from credo.kernels.jit import short_kernel


@short_kernel
def value_counts(codes, rows, columns, first_value):
    """Count the rows with each value, the columns one after the other; missing cells (-1) are not counted."""
    counts = np.zeros(first_value[-1], np.int64)
    for row in rows:
        for v in range(len(columns)):
            code = codes[row, columns[v]]
            if code >= 0:
                counts[first_value[v] + code] += 1
    return counts


@short_kernel
def value_counts_of_runs(codes, rows, ends, columns, first_value):
    """Count the values of the rows rows[ends[r - 1]:ends[r]] for each run r; a call for each would cost more than most runs do."""
    counts = np.zeros((len(ends), first_value[-1]), np.int64)
    i = 0
    for run in range(len(ends)):
        while i < ends[run]:
            for v in range(len(columns)):
                code = codes[rows[i], columns[v]]
                if code >= 0:
                    counts[run, first_value[v] + code] += 1
            i += 1
    return counts


@short_kernel
def by_label(rows, labels, n):
    """Return the rows with label 0, then those with label 1 and so on, each in their order, and where each run ends."""
    ends = np.zeros(n, np.int64)
    for label in labels:
        ends[label] += 1
    place = np.zeros(n, np.int64)
    for label in range(1, n):
        place[label] = ends[label - 1]
        ends[label] += ends[label - 1]
    ordered = np.empty(len(rows), rows.dtype)
    for i in range(len(rows)):
        ordered[place[labels[i]]] = rows[i]
        place[labels[i]] += 1
    return ordered, ends


@short_kernel
def weighted_value_counts(codes, rows, columns, first_value, weights):
    """Add up the weights of the rows with each value, and of those that miss each column's cell."""
    counts, missing = np.zeros(first_value[-1]), np.zeros(len(columns))
    for i in range(len(rows)):
        for v in range(len(columns)):
            code = codes[rows[i], columns[v]]
            if code >= 0:
                counts[first_value[v] + code] += weights[i]
            else:
                missing[v] += weights[i]
    return counts, missing


@short_kernel
def rows_with_gaps(codes, rows, columns):
    """Tell which of the rows miss any cell of the columns."""
    gaps = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        for v in columns:
            if codes[rows[i], v] < 0:
                gaps[i] = True
                break
    return gaps


@short_kernel
def known_cells(codes, rows, columns):
    """Return how many cells of the columns each row knows."""
    known = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        for v in columns:
            known[i] += codes[rows[i], v] >= 0
    return known


@short_kernel
def common_values(counts, first_value):
    """Return the most common value of each column, the first of equals."""
    common = np.zeros(len(first_value) - 1, np.int32)
    for v in range(len(common)):
        for at in range(first_value[v], first_value[v + 1]):
            if counts[at] > counts[first_value[v] + common[v]]:
                common[v] = at - first_value[v]
    return common


@short_kernel
def count_items(codes, rows, columns, common, starts):
    """Write the positions in the list of items where each row's begin; an item is a cell other than its column's common value."""
    starts[0] = 0
    for i in range(len(rows)):
        items = 0
        for v in range(len(columns)):
            items += codes[rows[i], columns[v]] != common[v]
        starts[i + 1] = starts[i] + items


@short_kernel
def list_items(codes, rows, columns, common, first_item, items):
    """Write the items of all rows; the items of a column are its values in their order, without the common one."""
    t = 0
    for row in rows:
        for v in range(len(columns)):
            code = codes[row, columns[v]]
            if code != common[v]:
                items[t] = first_item[v] + code - (code > common[v])
                t += 1
