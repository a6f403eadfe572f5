"""Sums with the best weights of a credal set: over a block of rows, and of one list of logarithms."""

from __future__ import annotations

import numpy as np

from credo.kernels.jit import inlined, kernel
from credo.rounding import ROUNDING

MOST_PASSES = 12  # selections of a best child over a whole block before the rows left are sorted one by one


@inlined
def _spent(spare, flip):
    """Return what mass counts as spent when weights are filled up.

    What rounding leaves over would go to the next child. Of the largest sum that is nothing, the children filled before being
    larger; of the smallest one it may be all there is, where the children filled before are 0 or tiny.
    """
    return min(ROUNDING, 0.5 * spare) if flip == 0 else 0.0


@inlined
def interval_sum_of_two(slot, target, at, lower, upper, flip, rows):
    """The better child gets what the other one must not have."""
    spare = 1.0 - lower[at] - lower[at + 1]
    most_0 = max(min(spare, upper[at] - lower[at]), 0.0)
    most_1 = max(min(spare, upper[at + 1] - lower[at + 1]), 0.0)
    spent = _spent(spare, flip)
    good_0, poor_1 = lower[at] + most_0, lower[at + 1] + (min(spare - most_0, most_1) if spare - most_0 > spent else 0.0)
    poor_0, good_1 = lower[at] + (min(spare - most_1, most_0) if spare - most_1 > spent else 0.0), lower[at + 1] + most_1
    for r in range(rows):
        v0 = slot[target, r]
        v1 = slot[target + 1, r]
        if flip == 0:
            slot[target, r] = good_0 * v0 + poor_1 * v1 if v0 <= v1 else poor_0 * v0 + good_1 * v1
        else:
            slot[target, r] = good_0 * v0 + poor_1 * v1 if v0 >= v1 else poor_0 * v0 + good_1 * v1


@inlined
def interval_sum(slot, bits, target, n, at, lower, upper, by_pairs, flip, rows, total, mass, other, last, best, width, key):
    """Fill from the lower weights: the best child first, until each row's mass is spent.

    Children are compared by a key: the bits of the value, which order as values do, with the child's number in the last
    few, so that keys differ and a minimum finds value and place at once. `flip` is 0 to prefer small values and -1 to
    prefer large ones. Two ways, chosen by `credo.infer.program` from measured costs: compare all pairs of children, or
    select the best child left until nothing is left to give.
    """
    spare = 1.0
    for i in range(n):
        spare -= lower[at + i]
        width[i] = upper[at + i] - lower[at + i]
    padded = (n + 3) // 4 * 4  # keys are read four at a time
    place_bits = 2
    while (1 << place_bits) < n:
        place_bits += 1
    place_mask = (1 << place_bits) - 1
    value_mask = ~place_mask
    start, end = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    spent = _spent(spare, flip)
    for r in range(rows):
        total[r] = 0.0
    for i in range(n):
        weight = lower[at + i]
        for r in range(rows):
            total[r] += weight * slot[target + i, r]
            key[i, r] = ((bits[target + i, r] & value_mask) | i) ^ flip
    for i in range(n, padded):
        width[i] = 0.0
        for r in range(rows):
            key[i, r] = end
    if spare > 0.0 and by_pairs:
        # Each child gets what is left when all that are better are full; two children at a time share the loads.
        for j in range(0, n, 2):
            for r in range(rows):
                mass[r] = spare
                other[r] = spare
            for i in range(0, n, 4):
                w0, w1, w2, w3 = width[i], width[i + 1], width[i + 2], width[i + 3]
                for r in range(rows):
                    k0, k1, k2, k3 = key[i, r], key[i + 1, r], key[i + 2, r], key[i + 3, r]
                    ours = key[j, r]
                    mass[r] -= ((w0 if k0 < ours else 0.0) + (w1 if k1 < ours else 0.0)) + (
                        (w2 if k2 < ours else 0.0) + (w3 if k3 < ours else 0.0)
                    )
                    ours = key[j + 1, r]
                    other[r] -= ((w0 if k0 < ours else 0.0) + (w1 if k1 < ours else 0.0)) + (
                        (w2 if k2 < ours else 0.0) + (w3 if k3 < ours else 0.0)
                    )
            w0, w1 = width[j], width[j + 1]
            for r in range(rows):
                total[r] += (min(mass[r], w0) if mass[r] > spent else 0.0) * slot[target + j, r]
            if j + 1 < n:
                for r in range(rows):
                    total[r] += (min(other[r], w1) if other[r] > spent else 0.0) * slot[target + j + 1, r]
    elif spare > 0.0:
        for r in range(rows):
            mass[r] = spare
            last[r] = start
        waiting = rows
        passes = 0
        while waiting > 0 and passes < min(n, MOST_PASSES):
            for r in range(rows):
                best[r] = end
            for i in range(0, n, 4):
                for r in range(rows):
                    after = last[r]
                    k0, k1, k2, k3 = key[i, r], key[i + 1, r], key[i + 2, r], key[i + 3, r]
                    k0 = k0 if k0 > after else end
                    k1 = k1 if k1 > after else end
                    k2 = k2 if k2 > after else end
                    k3 = k3 if k3 > after else end
                    best[r] = min(best[r], min(min(k0, k1), min(k2, k3)))
            waiting = 0
            for r in range(rows):
                i = (best[r] ^ flip) & place_mask
                take = min(mass[r], width[i])
                total[r] += take * slot[target + i, r]
                mass[r] -= take
                last[r] = best[r]
                mass[r] = mass[r] if mass[r] > spent else 0.0
                waiting += 1 if mass[r] > 0.0 else 0
            passes += 1
        if waiting > 0 and passes < n:
            order = np.empty(n, np.int64)
            for r in range(rows):
                if mass[r] > 0.0:
                    for i in range(n):
                        order[i] = key[i, r]
                    order.sort()
                    for position in range(passes, n):
                        i = (order[position] ^ flip) & place_mask
                        take = min(mass[r], width[i])
                        total[r] += take * slot[target + i, r]
                        mass[r] -= take
                        if mass[r] <= spent:
                            break
    for r in range(rows):
        slot[target, r] = total[r]


@inlined
def vertex_sum(slot, target, n, first_value, n_vertices, values, flip, rows, total, best):
    """Try every vertex and keep the best sum of each row."""
    for k in range(n_vertices):
        at = first_value + k * n
        for r in range(rows):
            total[r] = values[at] * slot[target, r]
        for i in range(1, n):
            weight = values[at + i]
            for r in range(rows):
                total[r] += weight * slot[target + i, r]
        for r in range(rows):
            better = total[r] < best[r] if flip == 0 else total[r] > best[r]
            if k == 0 or better:
                best[r] = total[r]
    for r in range(rows):
        slot[target, r] = best[r]


@kernel
def choose_weights(values, at, lower, upper, flip, weights):
    """Write the interval weights that make the sum of `values` smallest (largest when `flip` is -1) to `weights`."""
    n = len(values)
    spare = 1.0
    for i in range(n):
        weights[i] = lower[at + i]
        spare -= lower[at + i]
    spent = _spent(spare, flip)
    order = np.argsort(values)
    for position in range(n):
        i = order[position] if flip == 0 else order[n - 1 - position]
        take = min(spare, upper[at + i] - lower[at + i]) if spare > spent else 0.0
        weights[i] += take
        spare -= take


@kernel
def log_sum(values, weights):
    """Return log Σ weight * exp(value), with children of weight zero left out of the scaling."""
    top = -np.inf
    for i in range(len(values)):
        if weights[i] > 0.0 and values[i] > top:
            top = values[i]
    if top == -np.inf:
        return -np.inf
    total = 0.0
    for i in range(len(values)):
        if weights[i] > 0.0:
            total += weights[i] * np.exp(values[i] - top)
    return top + np.log(total)


@kernel
def best_vertex(values, vertices, first, stop, flip):
    """Return the best log-sum of `values` over the vertices between `first` and `stop`, and where the best vertex begins."""
    n = len(values)
    best = np.inf if flip == 0 else -np.inf
    best_at = first
    for at in range(first, stop, n):
        value = log_sum(values, vertices[at : at + n])
        if (flip == 0 and value < best) or (flip != 0 and value > best):
            best = value
            best_at = at
    return best, best_at
