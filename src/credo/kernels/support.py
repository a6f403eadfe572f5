"""Which rows a circuit can give a positive value: the bottom-up pass in true and false."""

from __future__ import annotations

import numpy as np

from credo.kernels.jit import kernel
from credo.kernels.operations import ADD, BINARY_LEAVES, COPY, INTERVALS, LEAVES, TIMES
from credo.rounding import ROUNDING


@kernel
def support_pass(
    operations, leaf_column, leaf_table, n_slots, root, column_sizes, positive, lower, upper, vertex_sets, vertices, codes, out
):
    """Tell for each row of `codes` whether its smallest value is positive; `positive` tells it of each state of each leaf."""
    n = len(codes)
    states = np.empty((codes.shape[1], n), np.uint16)
    slot = np.empty((n_slots, n), np.bool_)
    sure = np.empty(n)
    free = np.empty(n)
    for column in range(codes.shape[1]):
        missing = column_sizes[column]
        for r in range(n):
            code = codes[r, column]
            states[column, r] = missing if code < 0 else code
    for k in range(operations.shape[0]):
        operation, target, a, b = operations[k, 0], operations[k, 1], operations[k, 2], operations[k, 3]
        first = operations[k, 4] != 0
        if operation in (BINARY_LEAVES, LEAVES):
            if first:
                for r in range(n):
                    slot[target, r] = True
            for i in range(a, a + b):
                x, t = leaf_column[i], leaf_table[i]
                for r in range(n):
                    slot[target, r] &= positive[t + states[x, r]]
        elif operation == TIMES:
            for r in range(n):
                slot[target, r] &= slot[a, r]
        elif operation == COPY or (operation == ADD and first):
            for r in range(n):
                slot[target, r] = slot[a, r]
        elif operation == ADD:
            for r in range(n):
                slot[target, r] |= slot[a, r]
        elif operation == INTERVALS:
            # Positive children have a weight when they must have one, or when the others cannot take all.
            for r in range(n):
                sure[r] = 0.0
                free[r] = 1.0
            for i in range(b):
                for r in range(n):
                    sure[r] += lower[a + i] if slot[target + i, r] else 0.0
                    free[r] -= 0.0 if slot[target + i, r] else upper[a + i]
            for r in range(n):
                slot[target, r] = sure[r] > 0.0 or free[r] > ROUNDING
        else:
            for r in range(n):
                everywhere = True
                for v in range(vertex_sets[a, 1]):
                    here = False
                    for i in range(b):
                        here |= slot[target + i, r] and vertices[vertex_sets[a, 0] + v * b + i] > 0.0
                    everywhere &= here
                slot[target, r] = everywhere
    for r in range(n):
        out[r] = slot[root, r]
