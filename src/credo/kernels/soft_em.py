"""EM for a mixture of two naive Bayes models of rows that may miss cells, and how likely rows are in many clusters.

Rows are lists of items, as in `hard_em`: a cell with the most common value of its column is no item, so that what costs time is
what is unusual. A missing cell is an item, too; it takes the column out of the row's likelihood:

    log-likelihood of a row in a cluster = base + gain of each of its items
    base            what a row has that holds the common value everywhere
    gain            of another value: its logarithm less the common value's; of a missing cell: less the common value's

    items of column v:  first_value[v] + code,  and  first_value[-1] + v  where the cell is missing
"""

from __future__ import annotations

import math

import numpy as np

from credo.kernels.jit import kernel

TINY = 1e-6  # a share of a row in a cluster that is not counted
ROW_SMOOTHING = 0.5  # added to the rows of each of the two clusters


@kernel
def item_list(codes, rows, columns, common, first_value, starts):
    """Return the items of all rows, one row's after the other's."""
    items = np.empty(starts[-1], np.int32)
    t = 0
    for row in rows:
        for v in range(len(columns)):
            code = codes[row, columns[v]]
            if code != common[v]:
                items[t] = first_value[v] + code if code >= 0 else first_value[-1] + v
                t += 1
    return items


@kernel
def differences(codes, rows, columns, row):
    """Count for each row the columns in which it and one other row have different values, both known."""
    found = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        for v in columns:
            here, there = codes[rows[i], v], codes[row, v]
            found[i] += here >= 0 and there >= 0 and here != there
    return found


@kernel
def two_clusters(starts, items, common, first_value, counts, missing, share, most_steps, tolerance, smoothing, base_rate):
    """Run EM from the shares of the rows in the second cluster, which are overwritten, and return the log-likelihood of all rows.

    Parameters
    ----------
    starts, items : int arrays
        The rows.
    common : int array
        The most common value of each column, as a number among all values.
    first_value : int array
        The values of column v are first_value[v] .. first_value[v + 1] - 1.
    counts, missing : int arrays
        How many rows have each value, and miss each column.
    share : float array
        Of each row, what belongs to the second cluster.
    most_steps : int
        When to stop; before that where a step improves the mean log-likelihood of a row by less than `tolerance`.
    smoothing : float
        How many rows with the distribution of the whole slice each cluster has besides its own.
    base_rate : float
        Added to the count of each value for that distribution.
    """
    rows, columns, values = len(share), len(common), first_value[-1]
    other = np.zeros(values + columns)  # of the second cluster
    gain = np.zeros((values + columns, 2))  # of an item: first cluster, second less first
    logs = np.zeros(2)
    known = np.zeros(columns)
    for v in range(columns):
        known[v] = rows - missing[v]
    last = total = -np.inf
    for _ in range(most_steps):
        other[:] = 0
        size = 0.0
        for i in range(rows):
            part = share[i]
            size += part
            if part > TINY:
                for t in range(starts[i], starts[i + 1]):
                    other[items[t]] += part
        base_first = math.log((rows - size + ROW_SMOOTHING) / (rows + 2 * ROW_SMOOTHING))
        base_apart = math.log((size + ROW_SMOOTHING) / (rows - size + ROW_SMOOTHING))
        for v in range(columns):
            known_there = size - other[values + v]
            left = known_there
            for value in range(first_value[v], first_value[v + 1]):
                left -= other[value]
            other[common[v]] = left
            k = first_value[v + 1] - first_value[v]
            for value in range(first_value[v], first_value[v + 1]):
                usual = smoothing * (counts[value] + base_rate) / (known[v] + base_rate * k)
                here = max(counts[value] - other[value], 0.0) + usual
                there = max(other[value], 0.0) + usual
                gain[value, 0] = math.log(here / (max(known[v] - known_there, 0.0) + smoothing))
                gain[value, 1] = math.log(there / (max(known_there, 0.0) + smoothing)) - gain[value, 0]
            logs[0], logs[1] = gain[common[v], 0], gain[common[v], 1]
            base_first += logs[0]
            base_apart += logs[1]
            for value in range(first_value[v], first_value[v + 1]):
                gain[value, 0] -= logs[0]
                gain[value, 1] -= logs[1]
            gain[values + v, 0], gain[values + v, 1] = -logs[0], -logs[1]
        last, total = total, 0.0
        for i in range(rows):
            first, apart = base_first, base_apart
            for t in range(starts[i], starts[i + 1]):
                first += gain[items[t], 0]
                apart += gain[items[t], 1]
            smaller = math.exp(-abs(apart))
            share[i] = 1 / (1 + smaller) if apart > 0 else smaller / (1 + smaller)
            total += first + max(apart, 0.0) + math.log1p(smaller)
        if total - last < tolerance * rows:
            break
    return total


@kernel
def cluster_scores(codes, rows, columns, first_value, log_shares, log_models):
    """Return the logarithm of the share of each cluster times the likelihood of each row's known cells in it, (rows, clusters).

    `log_models[value, cluster]` lies by value, so that a cell adds contiguous numbers.
    """
    clusters = len(log_shares)
    scores = np.empty((len(rows), clusters))
    for i in range(len(rows)):
        for c in range(clusters):
            scores[i, c] = log_shares[c]
        for v in range(len(columns)):
            code = codes[rows[i], columns[v]]
            if code >= 0:
                for c in range(clusters):
                    scores[i, c] += log_models[first_value[v] + code, c]
    return scores
