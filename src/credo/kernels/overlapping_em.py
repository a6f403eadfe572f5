"""Online hard EM in which a row with missing cells may be in several clusters: LearnCSPN's clustering, as published.

The table is the one of `hard_em`, with one row for every value of every column and one column for every cluster:

                                  places (one a cluster)
    base                          -2.1  -9.0  -4.4        a row that has the common value everywhere
    gain[common value of v]       -0.1  -0.2  -0.7        what v contributes to base: taken off where the row misses the cell
    gain[another value of v]      -3.1  +3.2  -1.7        what changes in base when the row has this value instead

    lower value of a row in all clusters = base + gain of its other values - gain of the common values of the columns it misses

All of it is logarithms in fixed point, so the sums are exact in any order. A complete row is in one cluster and is handled as in
`hard_em`, to the bit. The lower value of an incomplete row comes from the table too, but for the clusters that the row is in: these
are scored from their counts without the row. Its *upper* value is wanted only where a scan of the clusters meets a new best one,
and never tabled. Which values its missing cells were completed with does not enter the table either, so a row that stays in a
cluster never makes the table change.

Measured against `hard_em` on complete rows: 1.2 to 3 times its time, most where columns are many (a row's own cluster is scored column
by column). Counting each row out of its clusters before it is scored, which is simpler still, took 1.7 to 5 times. Arrays are copied
in loops, as each array expression takes the compiler about a second.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from credo.kernels.fixed_logs import EXP_LOWER, EXP_UPPER, ONE, log_sum_exp
from credo.kernels.jit import inlined, kernel

LANES = 8  # the table is read in multiples of this many clusters, which saves the remainder loops
CLOSED = np.iinfo(np.int64).min


class Rows(NamedTuple):
    """The rows of a slice and the logarithms that they need; nothing in it changes."""

    codes: Any  # (rows, columns), -1 missing
    first_value: Any  # the values of column v are first_value[v] .. first_value[v + 1] - 1
    common: Any  # the most common value of each column
    starts: Any  # the values of row i other than the common ones are others[starts[i]:starts[i + 1]]
    others: Any
    gap_starts: Any  # the columns that row i misses are gaps[gap_starts[i]:gap_starts[i + 1]]
    gaps: Any
    log_count: Any  # logarithm in fixed point of a smoothed count
    log_total: Any  # the same of a smoothed number of rows, by kind of column (columns of a kind have as many values)
    kind: Any  # by column


class Clusters(NamedTuple):
    """The clusters by place; places from the number of clusters on are empty."""

    gain: Any  # (values, places)
    base: Any
    counts: Any  # (places, values): rows with the value
    known: Any  # (places, columns): rows with any value
    completed: Any  # (places, values): rows that miss the cell and were completed with the value when they joined
    size: Any
    complete: Any  # complete rows
    slot: Any


@kernel
def _copy_place(source, place, target, to):
    """Copy a cluster to another place, maybe of another table."""
    for value in range(source.counts.shape[1]):
        target.gain[value, to] = source.gain[value, place]
        target.counts[to, value] = source.counts[place, value]
        target.completed[to, value] = source.completed[place, value]
    for v in range(source.known.shape[1]):
        target.known[to, v] = source.known[place, v]
    target.base[to], target.size[to] = source.base[place], source.size[place]
    target.complete[to], target.slot[to] = source.complete[place], source.slot[place]


@kernel
def _empty_clusters(capacity, values, columns):
    gain, counts = np.zeros((values, capacity), np.int64), np.zeros((capacity, values), np.int32)
    known, completed = np.zeros((capacity, columns), np.int32), np.zeros((capacity, values), np.int32)
    base, size = np.full(capacity, CLOSED, np.int64), np.zeros(capacity, np.int64)
    complete, slot = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
    return Clusters(gain, base, counts, known, completed, size, complete, slot)


@kernel
def _with_room(clusters, capacity):
    """Return a copy with room for more clusters."""
    wider = _empty_clusters(capacity, clusters.counts.shape[1], clusters.known.shape[1])
    for place in range(len(clusters.size)):
        _copy_place(clusters, place, wider, place)
    return wider


@kernel
def _longer(array, length, fill):
    longer = np.full(length, fill, array.dtype)
    for i in range(len(array)):
        longer[i] = array[i]
    return longer


@kernel
def _fill_place(rows, clusters, place):
    """Recompute the column of the table that belongs to the cluster at `place`."""
    gain, counts, known = clusters.gain, clusters.counts, clusters.known
    first_value, common, kind, log_count, log_total = rows.first_value, rows.common, rows.kind, rows.log_count, rows.log_total
    total = np.int64(0)
    for v in range(len(common)):
        log_common = np.int64(log_count[counts[place, common[v]]])
        cell = log_common - log_total[kind[v], known[place, v]]
        total += cell
        for value in range(first_value[v], first_value[v + 1]):
            gain[value, place] = log_count[counts[place, value]] - log_common
        gain[common[v], place] = cell
    clusters.base[place] = total


@inlined
def _add_rows(table, width, values, start, stop, sign, scores):
    """Add some rows of the table to the scores, four at a time, which saves three of four stores."""
    t = start
    while t + 4 <= stop:
        i, j, k, m = values[t], values[t + 1], values[t + 2], values[t + 3]
        for c in range(width):
            scores[c] += sign * ((table[i, c] + table[j, c]) + (table[k, c] + table[m, c]))
        t += 4
    while t < stop:
        i = values[t]
        for c in range(width):
            scores[c] += sign * table[i, c]
        t += 1


@kernel
def _score(rows, clusters, row, width, missed, scores):
    """Write the lower value of a row in the clusters at places 0 .. width-1; `missed` is room for its missing columns."""
    base, gain = clusters.base, clusters.gain
    for c in range(width):
        scores[c] = base[c]
    _add_rows(gain, width, rows.others, rows.starts[row], rows.starts[row + 1], 1, scores)
    start = rows.gap_starts[row]
    missing = rows.gap_starts[row + 1] - start
    if missing > 0:
        for t in range(missing):
            missed[t] = rows.common[rows.gaps[start + t]]
        _add_rows(gain, width, missed, 0, missing, -1, scores)


@kernel
def _score_without(rows, clusters, row, place):
    """Return the lower value that a row will have in a cluster of its own after leaving it."""
    score = np.int64(0)
    for v in range(len(rows.common)):
        code = rows.codes[row, v]
        if code >= 0:
            score += np.int64(rows.log_count[clusters.counts[place, rows.first_value[v] + code] - 1])
            score -= rows.log_total[rows.kind[v], clusters.known[place, v] - 1]
    return score


@inlined
def _rarest(rows, clusters, place, v):
    """Return the value of column v that the fewest rows of a cluster have, the first of several."""
    rarest = rows.first_value[v]
    for value in range(rarest + 1, rows.first_value[v + 1]):
        if clusters.counts[place, value] < clusters.counts[place, rarest]:
            rarest = value
    return rarest


@kernel
def _worst_case(rows, clusters, row, place):
    """Return what the upper value of a row in a cluster adds to the lower one."""
    worst = np.int64(0)
    for t in range(rows.gap_starts[row], rows.gap_starts[row + 1]):
        v = rows.gaps[t]
        rarest, known = _rarest(rows, clusters, place, v), clusters.known[place, v]
        unknown = clusters.size[place] - known
        worst += np.int64(rows.log_count[clusters.counts[place, rarest]]) - rows.log_total[rows.kind[v], known]
        if unknown > 0:
            worst -= np.int64(rows.log_count[clusters.completed[place, rarest]]) - rows.log_total[rows.kind[v], unknown]
    return worst


@kernel
def _count(rows, clusters, row, place, sign):
    """Count the known cells of a row into a cluster, or out of it with `sign` -1; the table is left as it is."""
    codes, counts, known, first_value = rows.codes, clusters.counts, clusters.known, rows.first_value
    clusters.size[place] += sign
    if rows.gap_starts[row] == rows.gap_starts[row + 1]:
        clusters.complete[place] += sign
    for v in range(codes.shape[1]):
        if codes[row, v] >= 0:
            counts[place, first_value[v] + codes[row, v]] += sign
            known[place, v] += sign


@kernel
def _close(clusters, place, last, place_of):
    """Take the empty cluster at `place` out of the table: the one at the last place moves into the hole."""
    place_of[clusters.slot[place]] = -1
    if place != last:
        _copy_place(clusters, last, clusters, place)
        place_of[clusters.slot[place]] = place
    for value in range(clusters.counts.shape[1]):
        clusters.gain[value, last] = clusters.counts[last, value] = clusters.completed[last, value] = 0
    for v in range(clusters.known.shape[1]):
        clusters.known[last, v] = 0
    clusters.base[last] = CLOSED
    clusters.size[last] = clusters.complete[last] = 0


@kernel
def _first_best(clusters, used, width, opening, scores):
    """Return 1 and the slot that a complete row joins, or 0 and -1 for a new cluster: what `_kept` returns, but faster."""
    best = opening
    for c in range(width):
        best = max(best, scores[c])
    slot = -1
    if best > opening:
        for c in range(used):
            if scores[c] == best and (slot < 0 or clusters.slot[c] < slot):
                slot = clusters.slot[c]
    return int(slot >= 0), slot


@kernel
def _largest(kept, kept_scores, n, most):
    """Keep the `most` slots with the largest scores in their order, the first of equals."""
    largest, filled = np.empty(most, np.int64), 0  # in falling order
    for i in range(n):
        if filled == most and kept_scores[i] <= largest[most - 1]:
            continue
        filled = min(filled + 1, most)
        at = filled - 1
        while at > 0 and largest[at - 1] < kept_scores[i]:
            largest[at] = largest[at - 1]
            at -= 1
        largest[at] = kept_scores[i]
    least, ties = largest[most - 1], 0
    while ties < most and largest[most - 1 - ties] == least:
        ties += 1
    left = 0
    for i in range(n):
        if kept_scores[i] > least or (kept_scores[i] == least and ties > 0):
            ties -= kept_scores[i] == least
            kept[left] = kept[i]
            left += 1
    return left


@kernel
def _kept(rows, clusters, row, slots, place_of, opening, most, scores, kept, kept_scores):
    """Scan the clusters by slot; write the slots of those that the row joins, ascending, and return how many and the best one.

    None means a new cluster. Where they are more than `most`, those with the largest lower values stay, the first of equals.
    """
    best = best_upper = opening
    best_slot, n = -1, 0
    for slot in range(slots):
        place = place_of[slot]
        if place < 0:
            continue
        score = scores[place]
        if score > best:
            best, best_slot = score, slot
            best_upper = score + _worst_case(rows, clusters, row, place)
            left = 0
            for i in range(n):
                if kept_scores[i] >= best_upper:
                    kept[left], kept_scores[left] = kept[i], kept_scores[i]
                    left += 1
            n = left
        elif score <= best_upper:
            continue
        kept[n], kept_scores[n] = slot, score
        n += 1
    return _largest(kept, kept_scores, n, most) if n > most else n, best_slot


@kernel
def _compacted(pool, pool_start, in_clusters, gap_starts, needed):
    """Return a pool without what rows have left behind and with room for more, and where it ends."""
    live = 0
    for row in range(len(in_clusters)):
        live += in_clusters[row] * (gap_starts[row + 1] - gap_starts[row] + 1)
    compacted, end = np.empty(max(len(pool), 2 * (live + needed)), np.int64), 0
    for row in range(len(in_clusters)):
        length = in_clusters[row] * (gap_starts[row + 1] - gap_starts[row] + 1)
        for i in range(length):
            compacted[end + i] = pool[pool_start[row] + i]
        pool_start[row] = end
        end += length
    return compacted, end


@kernel
def _mixture_score(rows, clusters, used, memberships, missed, scores):
    for place in range(used):
        clusters.base[place] += np.int64(np.rint(math.log(clusters.size[place]) * ONE)) - np.int64(np.rint(math.log(memberships) * ONE))
    width = (used + LANES - 1) // LANES * LANES
    score = np.int64(0)
    for row in range(rows.codes.shape[0]):
        _score(rows, clusters, row, width, missed, scores)
        score += log_sum_exp(scores, used, EXP_UPPER, EXP_LOWER)
    return score


@kernel
def overlapping_em(order, rows, opening, passes, most, halve):
    """Cluster the rows of a slice; at least two of its complete rows must differ.

    Parameters
    ----------
    order : int array
        The order in which every pass visits the rows.
    rows : Rows
        The rows of the slice.
    opening : int
        A row opens a cluster of its own when no other is better than this.
    passes : int
        Visits of every row.
    most : int
        In how many clusters a row may be.
    halve : bool
        What to do when after a pass one cluster has all complete rows: halve `opening` and begin the passes again from there, or
        stop.

    Returns
    -------
    first, slots : int arrays
        Row i is in the clusters `slots[first[i]:first[i + 1]]`, ascending.
    best : int array
        The cluster among them where the row was most likely.
    score : int
        The log-likelihood, in fixed point, of the known cells under the mixture of the clusters, each weighted by its share of
        all memberships.
    divided : bool
        Whether no cluster has all complete rows.
    opening : int
        Its last value.
    """
    n, columns = rows.codes.shape
    gap_starts, gaps = rows.gap_starts, rows.gaps
    complete_rows, most_missing = 0, 0
    for row in range(n):
        missing = gap_starts[row + 1] - gap_starts[row]
        complete_rows += missing == 0
        most_missing = max(most_missing, missing)
    missed = np.zeros(most_missing, np.int64)

    capacity = LANES
    clusters = _empty_clusters(capacity, rows.first_value[columns], columns)
    scores = np.zeros(capacity, np.int64)
    place_of = np.full(capacity, -1, np.int64)
    kept, kept_scores = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
    visited = np.full(capacity, -1, np.int64)  # by slot: the last visit in which a row left it that was not alone there
    best_of = np.full(n, -1, np.int64)
    # For each cluster that a row is in, `pool` holds the slot and the values that its missing cells were completed with.
    pool, pool_end = np.zeros(2 * n, np.int64), 0
    pool_start, in_clusters = np.zeros(n, np.int64), np.zeros(n, np.int64)

    used = slots = done = visit = 0
    while done < passes:
        for row in order:
            visit += 1
            gap, start, before = gap_starts[row], pool_start[row], in_clusters[row]
            missing = gap_starts[row + 1] - gap
            block = missing + 1
            width = (used + LANES - 1) // LANES * LANES
            _score(rows, clusters, row, width, missed, scores)
            for at in range(start, start + before * block, block):
                place = place_of[pool[at]]
                scores[place] = _score_without(rows, clusters, row, place) if clusters.size[place] > 1 else CLOSED
            joins, best = 0, -1
            if missing == 0:
                joins, best = _first_best(clusters, used, width, opening, scores)
                kept[0] = best
                if before > 0 and best == pool[start]:
                    continue
            for at in range(start, start + before * block, block):  # count the row out, but leave the table
                place = place_of[pool[at]]
                _count(rows, clusters, row, place, -1)
                for t in range(missing):
                    clusters.completed[place, pool[at + 1 + t]] -= 1
                if clusters.size[place] > 0:
                    visited[pool[at]] = visit
                else:
                    used -= 1
                    scores[place] = scores[used]
                    _close(clusters, place, used, place_of)
            if missing > 0:
                joins, best = _kept(rows, clusters, row, slots, place_of, opening, most, scores, kept, kept_scores)
            if joins == 0:  # open
                best = 0
                while best < slots and place_of[best] >= 0:
                    best += 1
                if best == slots:
                    slots += 1
                    if slots > len(place_of):
                        place_of, visited = _longer(place_of, 2 * slots, -1), _longer(visited, 2 * slots, -1)
                        kept, kept_scores = _longer(kept, 2 * slots, 0), _longer(kept_scores, 2 * slots, 0)
                if used == capacity:
                    capacity = 2 * capacity + LANES  # an odd multiple of a cache line: rows 4096 bytes apart evict each other
                    clusters = _with_room(clusters, capacity)
                    scores = np.zeros(capacity, np.int64)
                place_of[best] = used
                clusters.slot[used] = best
                used += 1
                joins, kept[0] = 1, best
            best_of[row] = best

            for i in range(joins):
                place = place_of[kept[i]]
                _count(rows, clusters, row, place, 1)
                if visited[kept[i]] == visit:  # the row stays: the table has counted it there all the time
                    visited[kept[i]] = -1
                else:
                    _fill_place(rows, clusters, place)
            for at in range(start, start + before * block, block):
                if visited[pool[at]] == visit:  # the row leaves
                    _fill_place(rows, clusters, place_of[pool[at]])

            if joins > before:
                in_clusters[row] = 0
                if pool_end + joins * block > len(pool):
                    pool, pool_end = _compacted(pool, pool_start, in_clusters, gap_starts, joins * block)
                start = pool_start[row] = pool_end
                pool_end += joins * block
            in_clusters[row] = joins
            for i in range(joins):
                at, place = start + i * block, place_of[kept[i]]
                pool[at] = kept[i]
                for t in range(missing):
                    rarest = _rarest(rows, clusters, place, gaps[gap + t])
                    pool[at + 1 + t] = rarest
                    clusters.completed[place, rarest] += 1
        done += 1
        if clusters.complete.max() == complete_rows:  # where all rows are complete: when one cluster is left
            if not halve:
                break
            done = 0
            opening = -(-opening // 2)

    first = np.zeros(n + 1, np.int64)
    for row in range(n):
        first[row + 1] = first[row] + in_clusters[row]
    memberships = np.empty(first[n], np.int64)
    for row in range(n):
        for i in range(in_clusters[row]):
            memberships[first[row] + i] = pool[pool_start[row] + i * (gap_starts[row + 1] - gap_starts[row] + 1)]
    divided = clusters.complete.max() < complete_rows
    return first, memberships, best_of, _mixture_score(rows, clusters, used, len(memberships), missed, scores), divided, opening
