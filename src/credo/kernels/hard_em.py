"""Online hard EM over a naive Bayes mixture: which cluster every row of a slice ends in, and how good the outcome is.

A row of a slice is the list of its *items*: an item is a column together with a value other than the column's most common one.
So, for a cluster, the log-likelihood of a row is that of the row without items plus one *gain* for every item of the row:

                       places (one a cluster)
            base       -2.1  -9.0  -4.4  ...          scores of a row = base + gain[a] + gain[b] + gain[c]
    item a  gain[a]    -0.1  +3.2  -1.7  ...
    item b  gain[b]    +2.0  -0.3  +0.8  ...

The scores of all clusters are a few sums of contiguous rows, which the compiler vectorises (measured: 75 to 100 ps for a cluster
and item; blocks of 16 clusters, whose running sums were meant to stay in registers, took 330 to 400). They are logarithms in fixed
point, so the sums are exact in any order. A row that moves changes only two columns of the table, those of its old and its new
cluster, and a row that stays, as two of three do, changes nothing.

Clusters are numbered by *slot*: a new cluster takes the first free slot and the first slot wins a tie. The table is kept free of
holes, as on wide tables two of three slots end up empty: a cluster's column there is its *place*.
"""

from __future__ import annotations

import math

import numpy as np

from credo.kernels.fixed_logs import EXP_LOWER, EXP_UPPER, ONE, log_sum_exp
from credo.kernels.jit import inlined, kernel

LANES = 8  # the table is read in multiples of this many clusters, which saves the remainder loops


@kernel
def _fill_place(place, size, counts, first_item, binary, log_count, log_total, kinds, shift, tie, gain, base, base_without):
    """Recompute the column of the table that belongs to the cluster at `place`.

    Its entries are shifted left by `shift` bits, which leaves room in `base` for `tie`, the part that decides between equals.
    `base_without`, not shifted, is what `base` becomes when a row without items leaves the cluster.
    """
    columns = len(first_item) - 1
    total = without = np.int64(0)
    for kind in range(len(kinds)):
        total -= kinds[kind] * log_total[kind, size]
        without -= kinds[kind] * log_total[kind, max(size - 1, 0)]
    # Unsigned positions spare the test for negative ones: 1.2 ns a column instead of 1.6.
    if binary:  # the general loop below takes twice as long
        for v in range(columns):
            own = np.uint64(counts[place, v])
            common = np.uint64(size) - own
            log_common = np.int64(log_count[common])
            total += log_common
            without += log_count[max(np.int64(common) - 1, 0)]
            gain[v, place] = (log_count[own] - log_common) << shift
    else:
        for v in range(columns):
            rest = size
            for item in range(first_item[v], first_item[v + 1]):
                rest -= counts[place, item]
            log_common = np.int64(log_count[np.uint64(rest)])
            total += log_common
            without += log_count[max(rest - 1, 0)]
            for item in range(first_item[v], first_item[v + 1]):
                gain[item, place] = (log_count[np.uint64(counts[place, item])] - log_common) << shift
    base[place] = (total << shift) + tie
    base_without[place] = without


@inlined
def _score_row(row, width, starts, items, gain, base, scores):
    """Write the log-likelihood of a row in the clusters at places 0 .. width-1; four items a round save three of four stores."""
    for c in range(width):
        scores[c] = base[c]
    t, stop = starts[row], starts[row + 1]
    while t + 4 <= stop:
        i, j, k, m = items[t], items[t + 1], items[t + 2], items[t + 3]
        for c in range(width):
            scores[c] += (gain[i, c] + gain[j, c]) + (gain[k, c] + gain[m, c])
        t += 4
    while t < stop:
        i = items[t]
        for c in range(width):
            scores[c] += gain[i, c]
        t += 1


@inlined
def _score_without(row, place, starts, items, item_column, counts, size, first_item, log_count, base_without):
    """Return the log-likelihood of a row in its own cluster after the row has left it."""
    score = base_without[place]
    for t in range(starts[row], starts[row + 1]):
        item = items[t]
        column = item_column[item]
        common = size[place]
        for other in range(first_item[column], first_item[column + 1]):
            common -= counts[place, other]
        score += np.int64(log_count[counts[place, item] - 1]) - log_count[max(common - 1, 0)]
    return score


@kernel
def _columns_of_items(first_item):
    columns = np.empty(first_item[-1], np.int32)
    for v in range(len(first_item) - 1):
        columns[first_item[v] : first_item[v + 1]] = v
    return columns


@kernel
def _all_binary(first_item):
    return (first_item == np.arange(len(first_item))).all()


@kernel
def _longer(array, length, fill):
    longer = np.full(length, fill, array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def hard_em(order, starts, items, first_item, log_count, log_total, kinds, opening, passes, halve):
    """Cluster the rows of a slice.

    Parameters
    ----------
    order : int array
        The order in which every pass visits the rows.
    starts, items, first_item : int arrays
        The items of row i are `items[starts[i]:starts[i + 1]]`; those of column v are first_item[v] .. first_item[v + 1] - 1.
    log_count, log_total, kinds : int arrays
        Logarithms in fixed point of a smoothed count, and, for each kind of column (there are `kinds[k]` of kind k, alike in
        their number of values), of the smoothed number of rows.
    opening : int
        A row opens a cluster of its own when no other is better than this.
    passes : int
        Visits of every row.
    halve : bool
        What to do when one cluster is left after a pass: halve `opening` and begin the passes again from there, or stop.

    Returns
    -------
    labels : int array
        The cluster of each row; clusters are numbered 0, 1, ... in the order of their slots.
    clusters : int
        The number of clusters.
    opening : int
        Its last value.
    """
    closed = np.iinfo(np.int64).min
    shift = 1
    while 1 << shift < len(order):
        shift += 1
    last = (1 << shift) - 1
    n_items, item_column, binary = first_item[-1], _columns_of_items(first_item), _all_binary(first_item)
    capacity = LANES
    gain = np.zeros((n_items, capacity), np.int64)
    counts = np.zeros((capacity, n_items), np.int32)
    base = np.full(capacity, closed, np.int64)
    base_without, scores = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
    size, slot_at = np.zeros(capacity, np.int32), np.zeros(capacity, np.int32)
    place_of = np.full(capacity, -1, np.int32)
    slot = np.full(len(order), -1, np.int32)
    clusters = slots = done = 0
    while done < passes:
        for row in order:
            old = slot[row]
            place = place_of[old] if old >= 0 else -1
            alone = old >= 0 and size[place] == 1
            width = (clusters + LANES - 1) // LANES * LANES
            _score_row(row, width, starts, items, gain, base, scores)
            if alone:
                scores[place] = closed
            elif old >= 0:
                value = _score_without(row, place, starts, items, item_column, counts, size, first_item, log_count, base_without)
                scores[place] = (value << shift) + (last - old)
            best = closed
            for c in range(width):
                best = max(best, scores[c])
            if best >> shift > opening:
                new = last - (best & last)
            else:
                new = 0
                while new < slots and place_of[new] >= 0 and not (alone and new == old):
                    new += 1
            if new == old:
                continue

            if old >= 0:  # leave
                if size[place] > 1:
                    size[place] -= 1
                    for t in range(starts[row], starts[row + 1]):
                        counts[place, items[t]] -= 1
                    _fill_place(
                        place,
                        size[place],
                        counts,
                        first_item,
                        binary,
                        log_count,
                        log_total,
                        kinds,
                        shift,
                        last - slot_at[place],
                        gain,
                        base,
                        base_without,
                    )
                else:  # the cluster at the last place moves into the hole
                    clusters -= 1
                    place_of[old] = -1
                    if place != clusters:
                        size[place], slot_at[place] = size[clusters], slot_at[clusters]
                        place_of[slot_at[place]] = place
                        counts[place] = counts[clusters]
                        _fill_place(
                            place,
                            size[place],
                            counts,
                            first_item,
                            binary,
                            log_count,
                            log_total,
                            kinds,
                            shift,
                            last - slot_at[place],
                            gain,
                            base,
                            base_without,
                        )
                    size[clusters] = 0
                    counts[clusters] = 0
                    gain[:, clusters] = 0
                    base[clusters] = closed

            slot[row] = new
            if new == slots:
                slots += 1
                if slots > len(place_of):
                    place_of = _longer(place_of, 2 * slots, -1)
            if place_of[new] < 0:  # open
                if clusters == capacity:
                    capacity = 2 * capacity + LANES  # an odd multiple of a cache line: rows 4096 bytes apart evict each other
                    wider, longer = np.zeros((n_items, capacity), np.int64), np.zeros((capacity, n_items), np.int32)
                    wider[:, :clusters] = gain
                    longer[:clusters] = counts
                    gain, counts = wider, longer
                    base, base_without = _longer(base, capacity, closed), _longer(base_without, capacity, 0)
                    scores = np.zeros(capacity, np.int64)
                    size, slot_at = _longer(size, capacity, 0), _longer(slot_at, capacity, 0)
                place_of[new] = clusters
                slot_at[clusters] = new
                clusters += 1
            place = place_of[new]
            size[place] += 1
            for t in range(starts[row], starts[row + 1]):
                counts[place, items[t]] += 1
            _fill_place(
                place,
                size[place],
                counts,
                first_item,
                binary,
                log_count,
                log_total,
                kinds,
                shift,
                last - slot_at[place],
                gain,
                base,
                base_without,
            )
        done += 1
        if clusters == 1:
            if not halve:
                break
            done = 0
            opening = -(-opening // 2)
    number = np.cumsum(place_of >= 0) - 1
    for row in range(len(slot)):
        slot[row] = number[slot[row]]
    return slot, clusters, opening


@kernel
def mixture_score(labels, clusters, starts, items, first_item, log_count, log_total, kinds):
    """Return the log-likelihood, in fixed point, of the rows under the mixture that the labels 0 .. clusters-1 make."""
    rows = len(labels)
    width = (clusters + LANES - 1) // LANES * LANES + LANES
    gain, counts = np.zeros((first_item[-1], width), np.int64), np.zeros((clusters, first_item[-1]), np.int32)
    base, scores = np.full(width, np.iinfo(np.int64).min, np.int64), np.zeros(width, np.int64)
    size, binary = np.zeros(clusters, np.int32), _all_binary(first_item)
    for row in range(rows):
        size[labels[row]] += 1
        for t in range(starts[row], starts[row + 1]):
            counts[labels[row], items[t]] += 1
    for c in range(clusters):
        _fill_place(c, size[c], counts, first_item, binary, log_count, log_total, kinds, 0, 0, gain, base, scores)
        base[c] += np.int64(np.rint(math.log(size[c]) * ONE)) - np.int64(np.rint(math.log(rows) * ONE))
    score = np.int64(0)
    for row in range(rows):
        _score_row(row, width - LANES, starts, items, gain, base, scores)
        score += log_sum_exp(scores, clusters, EXP_UPPER, EXP_LOWER)
    return score


@kernel
def _settled(order, starts, items, first_item, log_count, log_total, kinds, opening, passes, most):
    """Return labels, their number and whether that is acceptable, for the first fit threshold on the way from `opening`."""
    low = high = np.int64(0)  # thresholds that leave one cluster, and that make too many
    has_low = has_high = False
    crowded, crowded_clusters = np.empty(0, np.int32), 0
    while True:
        labels, clusters, _ = hard_em(order, starts, items, first_item, log_count, log_total, kinds, opening, passes, False)
        if clusters == 1:
            low, has_low = opening, True
        elif clusters > most:
            high, has_high = opening, True
            crowded, crowded_clusters = labels, clusters
        else:
            return labels, clusters, True
        if not has_low:
            opening *= 2
        elif not has_high:
            opening = -(-opening // 2)
        elif high - low <= max(int(-low // 10), 1):
            return crowded, crowded_clusters, False
        else:
            opening = (low + high) // 2


@kernel
def best_of_restarts(orders, starts, items, first_item, log_count, log_total, kinds, opening, passes, penalty, most, carry):
    """Cluster the rows of a slice in several orders.

    Parameters
    ----------
    orders : int array, (restarts, rows)
    starts, items, first_item, log_count, log_total, kinds, passes
        See `hard_em`.
    opening : int
        The threshold that every restart begins with, or the first one.
    penalty : int
        What a cluster costs.
    most : int
        More clusters than that are too many.
    carry : bool
        Halve the threshold when one cluster is left, go on from there, and keep it for the restarts that follow.

    Returns
    -------
    settled : bool
        Whether the best outcome has an acceptable number of clusters.
    score : int
        Its log-likelihood less the penalties.
    restart : int
        The first restart with it.
    labels : int array
    """
    best_settled, best_score, best, best_labels = False, np.int64(0), -1, np.empty(0, np.int32)
    for restart in range(len(orders)):
        order = orders[restart]
        if carry:
            settled = True
            labels, clusters, opening = hard_em(order, starts, items, first_item, log_count, log_total, kinds, opening, passes, True)
        else:
            labels, clusters, settled = _settled(order, starts, items, first_item, log_count, log_total, kinds, opening, passes, most)
        score = mixture_score(labels, clusters, starts, items, first_item, log_count, log_total, kinds) - penalty * clusters
        if best < 0 or (settled and not best_settled) or (settled == best_settled and score > best_score):
            best_settled, best_score, best, best_labels = settled, score, restart, labels
    return best_settled, best_score, best, best_labels
