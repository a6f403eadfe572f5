"""`block_pass` for a single row: no loops over blocks, no scratch for them, and values that stay in registers where they can.

Reading an operation and finding out what it is costs as much as doing it, so both sides of a row are done together.
"""

from __future__ import annotations

import numpy as np

from credo.kernels.jit import inlined, kernel
from credo.kernels.operations import ADD, BINARY_LEAVES, COPY, INTERVALS, LEAVES, TIMES
from credo.kernels.sums import choose_weights
from credo.rounding import ROUNDING

MOST_BY_PAIRS = 48  # children of a sum that are compared in pairs; beyond, sorting takes fewer steps, though each one costs more


@inlined
def _interval_sum(slot, target, n, at, lower, upper, flip):
    """Give each child what is left when all that are better are full: comparing all pairs takes no branches to be guessed."""
    spare = 1.0
    total = 0.0
    for i in range(n):
        spare -= lower[at + i]
        total += lower[at + i] * slot[target + i]
    spent = min(ROUNDING, 0.5 * spare) if flip == 0 else 0.0
    for j in range(n):
        ours = slot[target + j]
        mass = spare
        for i in range(j):
            better = slot[target + i] <= ours if flip == 0 else slot[target + i] >= ours
            mass -= upper[at + i] - lower[at + i] if better else 0.0
        for i in range(j + 1, n):
            better = slot[target + i] < ours if flip == 0 else slot[target + i] > ours
            mass -= upper[at + i] - lower[at + i] if better else 0.0
        total += (min(mass, upper[at + j] - lower[at + j]) if mass > spent else 0.0) * ours
    return total


@kernel
def _wide_interval_sum(slot, target, n, at, lower, upper, flip, weights):
    choose_weights(slot[target : target + n], at, lower, upper, flip, weights)
    total = 0.0
    for i in range(n):
        total += weights[i] * slot[target + i]
    return total


@inlined
def _best_vertex_sum(slot, target, n, first, n_vertices, vertices, flip):
    best = 0.0
    for v in range(n_vertices):
        total = 0.0
        for i in range(n):
            total += vertices[first + v * n + i] * slot[target + i]
        better = total < best if flip == 0 else total > best
        if v == 0 or better:
            best = total
    return best


@kernel
def one_row_pass(
    operations, leaf_column, leaf_table, n_slots, root, column_sizes, tables, lower, upper, centre, vertex_sets, vertices, codes, out
):
    """Write the values of the root, not their logarithms, for one row of codes: the smallest one, and the largest one if `out` has two."""
    states = np.empty(len(codes), np.uint64)
    for column in range(len(codes)):
        code = codes[column]
        states[column] = column_sizes[column] if code < 0 else code
    low, high, weights = np.empty(n_slots), np.empty(n_slots), np.empty(n_slots)
    sides = len(out)
    low_values, high_values = tables[0], tables[1]
    n_operations = operations.shape[0]
    k = 0
    while k < n_operations:
        operation, target, a, b = operations[k, 0], operations[k, 1], operations[k, 2], operations[k, 3]
        first = operations[k, 4] != 0
        k += 1
        if operation in (BINARY_LEAVES, LEAVES):
            # In several chains, as a single one would wait for each multiplication; unsigned, as no index counts from the end.
            one = np.uint64(1)
            i, end = np.uint64(a), np.uint64(a + b)
            below, above, more_below, more_above = 1.0, 1.0, 1.0, 1.0
            if sides == 1:
                while i + one < end:
                    below *= low_values[leaf_table[i] + states[leaf_column[i]]]
                    more_below *= low_values[leaf_table[i + one] + states[leaf_column[i + one]]]
                    i += np.uint64(2)
            while i + one < end:
                at, then = leaf_table[i] + states[leaf_column[i]], leaf_table[i + one] + states[leaf_column[i + one]]
                below *= low_values[at]
                above *= high_values[at]
                more_below *= low_values[then]
                more_above *= high_values[then]
                i += np.uint64(2)
            if i < end:
                at = leaf_table[i] + states[leaf_column[i]]
                below *= low_values[at]
                above *= high_values[at]
            below *= more_below
            above *= more_above
            if not first:
                below *= low[target]
                above *= high[target]
            if k < n_operations and operations[k, 0] == ADD and operations[k, 2] == target:  # what mostly follows
                goal, weight = operations[k, 1], centre[operations[k, 3]]
                again = operations[k, 4] == 0
                low[goal] = weight * below + (low[goal] if again else 0.0)
                high[goal] = weight * above + (high[goal] if again else 0.0)
                k += 1
            else:
                low[target] = below
                high[target] = above
        elif operation == ADD:
            low[target] = centre[b] * low[a] + (0.0 if first else low[target])
            high[target] = centre[b] * high[a] + (0.0 if first else high[target])
        elif operation == TIMES:
            low[target] *= low[a]
            high[target] *= high[a]
        elif operation == INTERVALS and b <= MOST_BY_PAIRS:
            low[target] = _interval_sum(low, target, b, a, lower, upper, 0)
            if sides == 2:
                high[target] = _interval_sum(high, target, b, a, lower, upper, -1)
        elif operation == INTERVALS:
            low[target] = _wide_interval_sum(low, target, b, a, lower, upper, 0, weights)
            if sides == 2:
                high[target] = _wide_interval_sum(high, target, b, a, lower, upper, -1, weights)
        elif operation == COPY:
            low[target] = low[a]
            high[target] = high[a]
        else:
            low[target] = _best_vertex_sum(low, target, b, vertex_sets[a, 0], vertex_sets[a, 1], vertices, 0)
            if sides == 2:
                high[target] = _best_vertex_sum(high, target, b, vertex_sets[a, 0], vertex_sets[a, 1], vertices, -1)
    out[0] = low[root]
    if sides == 2:
        out[1] = high[root]
