"""One step of expectation-maximisation: how many rows pass every weight of a precise circuit."""

from __future__ import annotations

import math

import numpy as np

from credo.kernels.jit import kernel


@kernel
def expected_counts(is_leaf, is_product, column, child_offset, child, weight_offset, log_weights, codes, counts):
    """Add to `counts`, laid out as the weights, the expected number of rows that pass each; return the log-likelihood of all rows.

    A row passes a child of a sum with the probability that the child made it, given its known cells; where a leaf's cell is
    missing it passes the values by their weights.
    """
    nodes = len(column)
    value, flow = np.empty(nodes), np.empty(nodes)
    total = 0.0
    for i in range(len(codes)):
        for node in range(nodes):
            flow[node] = 0
            first = weight_offset[node]
            if is_leaf[node]:
                code = codes[i, column[node]]
                value[node] = log_weights[first + code] if code >= 0 else 0.0
                continue
            start, stop = child_offset[node], child_offset[node + 1]
            if is_product[node]:
                value[node] = 0
                for at in range(start, stop):
                    value[node] += value[child[at]]
                continue
            most = -np.inf
            for at in range(start, stop):
                most = max(most, log_weights[first + at - start] + value[child[at]])
            whole = 0.0
            if most > -np.inf:
                for at in range(start, stop):
                    whole += math.exp(log_weights[first + at - start] + value[child[at]] - most)
                most += math.log(whole)
            value[node] = most
        total += value[nodes - 1]
        if value[nodes - 1] == -np.inf:
            continue
        flow[nodes - 1] = 1
        for node in range(nodes - 1, -1, -1):
            here, first = flow[node], weight_offset[node]
            if here <= 0:
                continue
            start, stop = child_offset[node], child_offset[node + 1]
            if is_leaf[node]:
                code = codes[i, column[node]]
                if code >= 0:
                    counts[first + code] += here
                else:
                    for at in range(first, weight_offset[node + 1]):
                        counts[at] += here * math.exp(log_weights[at])
            elif is_product[node]:
                for at in range(start, stop):
                    flow[child[at]] += here
            else:
                for at in range(start, stop):
                    part = here * math.exp(log_weights[first + at - start] + value[child[at]] - value[node])
                    counts[first + at - start] += part
                    flow[child[at]] += part
    return total
