"""The value of every node for one row of any evidence, in logarithms, and the weights that give it."""

from __future__ import annotations

import numpy as np

from credo.kernels.jit import kernel
from credo.kernels.sums import best_vertex, choose_weights, log_sum
from credo.rounding import ROUNDING


@kernel
def leaf_value(allowed, first_value, at, n, lower, upper, vertices, first_vertex, stop_vertex, flip):
    """Return the smallest (largest) weight that a leaf's credal set can give to the allowed values."""
    n_allowed = 0
    for k in range(n):
        n_allowed += allowed[first_value + k]
    if n_allowed == n:
        return 1.0
    if stop_vertex > first_vertex and n_allowed > 1:
        value = 1.0 if flip == 0 else 0.0
        for v in range(first_vertex, stop_vertex, n):
            weight = 0.0
            for k in range(n):
                if allowed[first_value + k]:
                    weight += vertices[v + k]
            value = min(value, weight) if flip == 0 else max(value, weight)
        return value
    near, far = (lower, upper) if flip == 0 else (upper, lower)
    inside, outside = 0.0, 0.0
    for k in range(n):
        if allowed[first_value + k]:
            inside += near[at + k]
        else:
            outside += far[at + k]
    # What the others must have is out of reach; rounding in 1 - outside must not outweigh a weight given exactly.
    rest = 1.0 - outside
    if flip == 0:
        return rest if rest > inside + ROUNDING else inside
    return max(rest, 0.0) if rest < inside - ROUNDING else inside


@kernel
def row_pass(
    kind, column, child_offset, child, weight_offset, lower, upper, point_offset, points, value_offset, allowed, flip, values, weights
):
    """Write every node's smallest (largest when `flip` is -1) log-value to `values` and the sums' weights to `weights`.

    `allowed` holds a flag for every value of every column: 1 where the evidence allows the value.
    """
    for node in range(len(kind)):
        first, stop = child_offset[node], child_offset[node + 1]
        at = weight_offset[node]
        if kind[node] == 0:
            value = leaf_value(
                allowed,
                value_offset[column[node]],
                at,
                weight_offset[node + 1] - at,
                lower,
                upper,
                points,
                point_offset[node],
                point_offset[node + 1],
                flip,
            )
            values[node] = 0.0 if value == 1.0 else (np.log(value) if value > 0.0 else -np.inf)
        elif kind[node] == 1:
            total = 0.0
            for edge in range(first, stop):
                total += values[child[edge]]
            values[node] = total
        else:
            n = stop - first
            here = values[child[first:stop]]
            chosen = weights[at : at + n]
            if point_offset[node + 1] > point_offset[node]:
                best_at = best_vertex(here, points, point_offset[node], point_offset[node + 1], flip)[1]
                chosen[:] = points[best_at : best_at + n]
            else:
                choose_weights(here, at, lower, upper, flip, chosen)
            values[node] = log_sum(here, chosen)
