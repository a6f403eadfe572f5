"""Bottom-up passes over a circuit: the value of the root for many rows.

`block_pass` runs a program (see `credo.infer.program`): straight-line operations on slots. A slot holds one number for
every row of a block, so that each operation is a loop over contiguous numbers that the compiler vectorises; a block is
small enough for the slots to stay in the cache. Values are plain probabilities. They lie in [0, 1] and every operation is
1-Lipschitz in each of them, so what underflow takes from any node changes the root by less than `edges * 2**-1022`: the
caller only has to look again at rows whose root is not far above that.

`log_block_pass` is that second look, in logarithms. A single row has a pass of its own, `credo.kernels.one_row`.
"""

from __future__ import annotations

import numpy as np

from credo.kernels.jit import kernel
from credo.kernels.leaves import multiply_binary_leaves, multiply_binary_leaves_twice, multiply_leaves
from credo.kernels.operations import ADD, BINARY_LEAVES, COPY, INTERVALS, LEAVES, TIMES, VERTICES
from credo.kernels.sums import best_vertex, choose_weights, interval_sum, interval_sum_of_two, log_sum, vertex_sum


@kernel
def block_pass(
    operations,
    leaf_column,
    leaf_table,
    n_slots,
    root,
    column_sizes,
    tables,
    lower,
    upper,
    centre,
    vertex_sets,
    vertices,
    codes,
    block,
    safe,
    out,
    first_row,
):
    """Write log-values of the root for the rows of `codes` (-1 is missing) to `out` from `first_row` on: one side, or both.

    Returns the number of rows whose (lower) value is less than `safe`.
    """
    n, n_columns = codes.shape
    sides = out.shape[0]
    block = min(block, n)
    states = np.empty((n_columns, block), np.uint16)
    slot = np.empty((n_slots * sides, block))
    bits = slot.view(np.int64)
    total = np.empty(block)
    mass = np.empty(block)
    other = np.empty(block)
    best_value = np.empty(block)
    last = np.empty(block, np.int64)
    best = np.empty(block, np.int64)
    width = np.empty(n_slots + 4)
    unsafe = 0
    key = np.empty((n_slots + 4, block), np.int64)
    for start in range(0, n, block):
        rows = min(block, n - start)
        for column in range(n_columns):
            missing = column_sizes[column]
            for r in range(rows):
                code = codes[start + r, column]
                states[column, r] = missing if code < 0 else code
        for k in range(operations.shape[0]):
            operation = operations[k, 0]
            target = operations[k, 1]
            a = operations[k, 2]
            b = operations[k, 3]
            first = operations[k, 4] != 0
            if operation == BINARY_LEAVES:
                if sides == 1:
                    multiply_binary_leaves(slot, target, first, a, a + b, leaf_column, leaf_table, tables, states, rows)
                else:
                    multiply_binary_leaves_twice(
                        slot, target, target + n_slots, first, a, a + b, leaf_column, leaf_table, tables, states, rows
                    )
                continue
            for side in range(sides):
                goal = target + side * n_slots
                if operation == TIMES:
                    source = a + side * n_slots
                    for r in range(rows):
                        slot[goal, r] *= slot[source, r]
                elif operation == ADD:
                    source = a + side * n_slots
                    weight = centre[b]
                    if first:
                        for r in range(rows):
                            slot[goal, r] = weight * slot[source, r]
                    else:
                        for r in range(rows):
                            slot[goal, r] += weight * slot[source, r]
                elif operation == INTERVALS and b == 2:
                    interval_sum_of_two(slot, goal, a, lower, upper, -side, rows)
                elif operation == INTERVALS:
                    interval_sum(slot, bits, goal, b, a, lower, upper, first, -side, rows, total, mass, other, last, best, width, key)
                elif operation == VERTICES:
                    vertex_sum(slot, goal, b, vertex_sets[a, 0], vertex_sets[a, 1], vertices, -side, rows, total, best_value)
                elif operation == COPY:
                    source = a + side * n_slots
                    for r in range(rows):
                        slot[goal, r] = slot[source, r]
                else:
                    multiply_leaves(slot, goal, side, first, a, a + b, leaf_column, leaf_table, tables, states, rows)
        for r in range(rows):
            for side in range(sides):
                value = slot[root + side * n_slots, r]
                out[side, first_row + start + r] = np.log(min(value, 1.0)) if value > 0.0 else -np.inf
            if sides == 2:  # equal up to rounding may come out crossed
                out[0, first_row + start + r] = min(out[0, first_row + start + r], out[1, first_row + start + r])
            unsafe += 1 if slot[root, r] < safe else 0
    return unsafe


@kernel
def log_block_pass(
    operations,
    leaf_column,
    leaf_table,
    n_slots,
    root,
    column_sizes,
    log_tables,
    lower,
    upper,
    centre,
    vertex_sets,
    vertices,
    codes,
    block,
    out,
):
    """Do what `block_pass` does in logarithms, for rows whose probability is too small for a float: slower, never underflows."""
    n, n_columns = codes.shape
    sides = out.shape[0]
    block = min(block, n)
    states = np.empty((n_columns, block), np.uint16)
    slot = np.empty((n_slots * sides, block))
    values = np.empty(n_slots)
    weights = np.empty(n_slots)
    for start in range(0, n, block):
        rows = min(block, n - start)
        for column in range(n_columns):
            missing = column_sizes[column]
            for r in range(rows):
                code = codes[start + r, column]
                states[column, r] = missing if code < 0 else code
        for k in range(operations.shape[0]):
            operation, a, b = operations[k, 0], operations[k, 2], operations[k, 3]
            first = operations[k, 4] != 0
            for side in range(sides):
                target = operations[k, 1] + side * n_slots
                source = a + side * n_slots
                if operation in (BINARY_LEAVES, LEAVES):
                    if first:
                        for r in range(rows):
                            slot[target, r] = 0.0
                    for i in range(a, a + b):
                        x, t = leaf_column[i], leaf_table[i]
                        for r in range(rows):
                            slot[target, r] += log_tables[side, t + states[x, r]]
                elif operation == TIMES:
                    for r in range(rows):
                        slot[target, r] += slot[source, r]
                elif operation == COPY:
                    for r in range(rows):
                        slot[target, r] = slot[source, r]
                elif operation == ADD:
                    log_weight = np.log(centre[b])
                    for r in range(rows):
                        one, other = -np.inf if first else slot[target, r], log_weight + slot[source, r]
                        top = max(one, other)
                        slot[target, r] = top if top == -np.inf else top + np.log1p(np.exp(min(one, other) - top))
                else:
                    for r in range(rows):
                        for i in range(b):
                            values[i] = slot[target + i, r]
                        if operation == INTERVALS:
                            choose_weights(values[:b], a, lower, upper, -side, weights)
                            slot[target, r] = log_sum(values[:b], weights)
                        else:
                            slot[target, r] = best_vertex(
                                values[:b], vertices, vertex_sets[a, 0], vertex_sets[a, 0] + b * vertex_sets[a, 1], -side
                            )[0]
        for r in range(rows):
            for side in range(sides):
                out[side, start + r] = min(slot[root + side * n_slots, r], 0.0)
            if sides == 2:
                out[0, start + r] = min(out[0, start + r], out[1, start + r])
