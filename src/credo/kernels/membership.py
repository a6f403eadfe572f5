"""Which clusters rows with missing cells may be in, by their scores and by what their missing cells may hold."""

from __future__ import annotations

import numpy as np

from credo.kernels.jit import inlined, kernel

ROUNDING = 1e-9  # nats; scores are sums of logarithms, and ties must be kept whatever the order of summation
MOST_TABLED = 1 << 22  # differences of two clusters in a column that are computed once for all rows


@inlined
def _most_gained(log_models, first_value, c, d, v):
    """Return the most that a value of a column is better for one cluster than for another; some value is no worse."""
    most = 0.0
    for value in range(first_value[v], first_value[v + 1]):
        most = max(most, log_models[value, c] - log_models[value, d])
    return most


@kernel
def not_dominated(codes, scores, first_value, log_models):
    """Tell for each row and cluster whether no other cluster is better under every completion of the row.

    Cluster d beats c under every completion when `scores[d] - scores[c]` is more than the sum over the missing cells of the most that
    a value is better for c than for d.
    """
    rows, clusters = scores.shape
    columns = codes.shape[1]
    kept = np.ones((rows, clusters), np.bool_)
    tabled = clusters * clusters * columns <= MOST_TABLED
    gains = np.zeros((clusters, clusters, columns) if tabled else (1, 1, 1))
    if tabled:
        for c in range(clusters):
            for d in range(clusters):
                for v in range(columns):
                    gains[c, d, v] = _most_gained(log_models, first_value, c, d, v)
    for i in range(rows):
        for c in range(clusters):
            for d in range(clusters):
                ahead = scores[i, d] - scores[i, c] - ROUNDING
                if ahead <= 0:
                    continue
                for v in range(columns):
                    if codes[i, v] >= 0:
                        continue
                    ahead -= gains[c, d, v] if tabled else _most_gained(log_models, first_value, c, d, v)
                    if ahead <= 0:
                        break
                if ahead > 0:
                    kept[i, c] = False
                    break
    return kept


@kernel
def scanned(lower, upper):
    """Tell for each row which clusters a scan in their order keeps: those whose lower value beats the upper value of the best one."""
    rows, clusters = lower.shape
    kept = np.zeros((rows, clusters), np.bool_)
    for i in range(rows):
        best = best_upper = -np.inf
        for c in range(clusters):
            if lower[i, c] > best:
                best, best_upper = lower[i, c], upper[i, c]
                for earlier in range(c):
                    kept[i, earlier] &= lower[i, earlier] >= best_upper
                kept[i, c] = True
            else:
                kept[i, c] = lower[i, c] > best_upper
    return kept
