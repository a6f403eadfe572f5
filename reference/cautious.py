"""The cautious learner's pieces by their definitions: plain Python, slow and obvious, without any kernel.

A row is a tuple of codes, -1 where a cell is missing. Clusters are given as shares and, for each cluster, the probabilities of each
value of each column.
"""

from __future__ import annotations

import math
from itertools import product

# Two clusters by EM


def em_step(rows, n_values, share, smoothing, base_rate):
    """Return the new shares of the rows in the second cluster, and the log-likelihood of all rows before the shares changed hands."""
    n, columns = len(rows), range(len(n_values))
    sizes = [n - sum(share), sum(share)]
    weights = [[1 - s for s in share], list(share)]
    logs = []
    for c in (0, 1):
        models = []
        for v in columns:
            known = [i for i in range(n) if rows[i][v] >= 0]
            everywhere = [sum(rows[i][v] == k for i in known) for k in range(n_values[v])]
            here = [sum(weights[c][i] for i in known if rows[i][v] == k) for k in range(n_values[v])]
            usual = [smoothing * (count + base_rate) / (len(known) + base_rate * n_values[v]) for count in everywhere]
            total = sum(here) + smoothing
            models.append([math.log((count + added) / total) for count, added in zip(here, usual, strict=True)])
        logs.append(models)
    new, likelihood = [], 0.0
    for row in rows:
        scores = [math.log((sizes[c] + 0.5) / (n + 1)) + sum(logs[c][v][row[v]] for v in columns if row[v] >= 0) for c in (0, 1)]
        most = max(scores)
        whole = sum(math.exp(score - most) for score in scores)
        new.append(math.exp(scores[1] - most) / whole)
        likelihood += most + math.log(whole)
    return new, likelihood


# Which clusters a row may be in


def score(row, share, model):
    """Return the logarithm of share times likelihood of the known cells."""
    return math.log(share) + sum(math.log(model[v][code]) for v, code in enumerate(row) if code >= 0)


def completions(row, n_values):
    """Return the row with its gaps filled in every way."""
    return [tuple(filled) for filled in product(*([code] if code >= 0 else range(k) for code, k in zip(row, n_values, strict=True)))]


def not_dominated(row, n_values, shares, models, tolerance=1e-9):
    """Tell for each cluster whether no other one is better under every completion of the row."""
    filled = completions(row, n_values)
    scores = [[score(one, share, model) for one in filled] for share, model in zip(shares, models, strict=True)]
    return [not any(all(d > c + tolerance for c, d in zip(own, other, strict=True)) for other in scores) for own in scores]


def scanned(lower, upper):
    """Tell for each cluster whether a scan in their order keeps it."""
    kept: list[int] = []
    best = None
    for c in range(len(lower)):
        if best is None or lower[c] > lower[best]:
            best = c
            kept = [other for other in kept if lower[other] >= upper[best]] + [c]
        elif lower[c] > upper[best]:
            kept.append(c)
    return [c in kept for c in range(len(lower))]


# Counting


def interval(rows, may_be_there, must_be_there):
    """Return the smallest and the largest share that rows give to something.

    Parameters
    ----------
    rows : list of (bool, ...)
        For each row that may be at the node, whether it surely is.
    may_be_there, must_be_there : lists of bool
        Whether the row may, and whether it must, be in what is asked for, if it is at the node at all.
    """
    each = list(zip(rows, may_be_there, must_be_there, strict=True))
    sure = sum(here and must for here, _, must in each)
    elsewhere = sum(not must for _, _, must in each)
    possible = sum(may for _, may, _ in each)
    excluded = sum(here and not may for here, may, _ in each)
    lower = sure / (sure + elsewhere) if sure + elsewhere else 0.0
    upper = possible / (possible + excluded) if possible + excluded else 1.0
    return lower, upper
