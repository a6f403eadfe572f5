"""Bottom-up passes over a circuit: the value of the root for many rows, and the value of every node for one row.

`block_pass` runs a program (see `credo.infer.program`): straight-line operations on slots. A slot holds one number for
every row of a block, so that each operation is a loop over contiguous numbers that the compiler vectorises; a block is
small enough for the slots to stay in the cache. Values are plain probabilities. They lie in [0, 1] and every operation is
1-Lipschitz in each of them, so what underflow takes from any node changes the root by less than `edges * 2**-1022`: the
caller only has to look again at rows whose root is not far above that.

`log_block_pass` is that second look, in logarithms. `row_pass` gives every node its value for one row of any evidence.
"""

from __future__ import annotations

import numpy as np

from credo.kernels.jit import inlined, kernel

# Operations of a program. Each is a row (operation, target slot, a, b, first): `first` is 1 when the slot is still empty.
BINARY_LEAVES = 0  # target *= product of the leaves a .. a+b-1, all with the states 0, 1 and missing
LEAVES = 1  # the same for leaves with any number of states
TIMES = 2  # target *= slot a
ADD = 3  # target += weight b * slot a
INTERVALS = 4  # target = best sum over the b slots from target on, weight intervals from position a on
VERTICES = 5  # the same over the vertices listed in `vertex_sets` at row a
COPY = 6  # target = slot a

MOST_CHILDREN_PLAIN = 64  # of a sum in a block of one row
MOST_PASSES = 12  # selections of a best child over a whole block before the rows left are sorted one by one


@inlined
def _multiply_binary_leaves(slot, target, first, start, stop, column, table, tables, states, rows):
    if first:
        for r in range(rows):
            slot[target, r] = 1.0
    i = start
    # Four leaves a round: one load and one store of the target for four multiplications. Two selects are faster than a
    # table look-up (measured: 0.07 against 0.22 ns a row and leaf), and the compiler turns them into blends. Rows of the
    # arrays are indexed, never sliced: each slice costs a reference count.
    while i + 4 <= stop:
        x0, x1, x2, x3 = column[i], column[i + 1], column[i + 2], column[i + 3]
        t0, t1, t2, t3 = table[i], table[i + 1], table[i + 2], table[i + 3]
        a0, a1, a2 = tables[0, t0], tables[0, t0 + 1], tables[0, t0 + 2]
        b0, b1, b2 = tables[0, t1], tables[0, t1 + 1], tables[0, t1 + 2]
        c0, c1, c2 = tables[0, t2], tables[0, t2 + 1], tables[0, t2 + 2]
        d0, d1, d2 = tables[0, t3], tables[0, t3 + 1], tables[0, t3 + 2]
        for r in range(rows):
            s = states[x0, r]
            a = a0 if s == 0 else (a1 if s == 1 else a2)
            s = states[x1, r]
            b = b0 if s == 0 else (b1 if s == 1 else b2)
            s = states[x2, r]
            c = c0 if s == 0 else (c1 if s == 1 else c2)
            s = states[x3, r]
            d = d0 if s == 0 else (d1 if s == 1 else d2)
            slot[target, r] *= (a * b) * (c * d)
        i += 4
    while i < stop:
        x0, t0 = column[i], table[i]
        a0, a1, a2 = tables[0, t0], tables[0, t0 + 1], tables[0, t0 + 2]
        for r in range(rows):
            s = states[x0, r]
            slot[target, r] *= a0 if s == 0 else (a1 if s == 1 else a2)
        i += 1


@inlined
def _multiply_binary_leaves_twice(slot, target, other, first, start, stop, column, table, tables, states, rows):
    """Both sides at once: the comparisons of the states serve two tables."""
    if first:
        for r in range(rows):
            slot[target, r] = 1.0
            slot[other, r] = 1.0
    i = start
    while i + 2 <= stop:
        x0, x1 = column[i], column[i + 1]
        t0, t1 = table[i], table[i + 1]
        a0, a1, a2 = tables[0, t0], tables[0, t0 + 1], tables[0, t0 + 2]
        b0, b1, b2 = tables[0, t1], tables[0, t1 + 1], tables[0, t1 + 2]
        c0, c1, c2 = tables[1, t0], tables[1, t0 + 1], tables[1, t0 + 2]
        d0, d1, d2 = tables[1, t1], tables[1, t1 + 1], tables[1, t1 + 2]
        for r in range(rows):
            s = states[x0, r]
            a = a0 if s == 0 else (a1 if s == 1 else a2)
            c = c0 if s == 0 else (c1 if s == 1 else c2)
            s = states[x1, r]
            b = b0 if s == 0 else (b1 if s == 1 else b2)
            d = d0 if s == 0 else (d1 if s == 1 else d2)
            slot[target, r] *= a * b
            slot[other, r] *= c * d
        i += 2
    if i < stop:
        x0, t0 = column[i], table[i]
        a0, a1, a2 = tables[0, t0], tables[0, t0 + 1], tables[0, t0 + 2]
        c0, c1, c2 = tables[1, t0], tables[1, t0 + 1], tables[1, t0 + 2]
        for r in range(rows):
            s = states[x0, r]
            slot[target, r] *= a0 if s == 0 else (a1 if s == 1 else a2)
            slot[other, r] *= c0 if s == 0 else (c1 if s == 1 else c2)


@inlined
def _multiply_leaves(slot, target, side, first, start, stop, column, table, tables, states, rows):
    for i in range(start, stop):
        x, t = column[i], table[i]
        if first and i == start:
            for r in range(rows):
                slot[target, r] = tables[side, t + states[x, r]]
        else:
            for r in range(rows):
                slot[target, r] *= tables[side, t + states[x, r]]


@inlined
def _multiply_leaves_of_row(slot, target, n_slots, sides, first, start, stop, column, table, tables, states):
    last = sides - 1
    low = 1.0 if first else slot[target, 0]
    high = 1.0 if first else slot[target + last * n_slots, 0]
    for i in range(np.uint64(start), np.uint64(stop)):  # unsigned: no index counts from the end
        at = table[i] + states[column[i], 0]
        low *= tables[0, at]
        high *= tables[last, at]
    slot[target + last * n_slots, 0] = high
    slot[target, 0] = low


@inlined
def _interval_sum_of_two(slot, target, at, lower, upper, flip, rows):
    """The better child gets what the other one must not have."""
    spare = 1.0 - lower[at] - lower[at + 1]
    most_0 = max(min(spare, upper[at] - lower[at]), 0.0)
    most_1 = max(min(spare, upper[at + 1] - lower[at + 1]), 0.0)
    good_0, poor_1 = lower[at] + most_0, lower[at + 1] + max(min(spare - most_0, most_1), 0.0)
    poor_0, good_1 = lower[at] + max(min(spare - most_1, most_0), 0.0), lower[at + 1] + most_1
    for r in range(rows):
        v0 = slot[target, r]
        v1 = slot[target + 1, r]
        if flip == 0:
            slot[target, r] = good_0 * v0 + poor_1 * v1 if v0 <= v1 else poor_0 * v0 + good_1 * v1
        else:
            slot[target, r] = good_0 * v0 + poor_1 * v1 if v0 >= v1 else poor_0 * v0 + good_1 * v1


@inlined
def _interval_sum_of_row(slot, target, n, at, lower, upper, flip, width):
    """The plain way for a single row: loops over one number cost more than they do."""
    spare = 1.0
    total = 0.0
    for i in range(n):
        spare -= lower[at + i]
        total += lower[at + i] * slot[target + i, 0]
        width[i] = upper[at + i] - lower[at + i]
    while spare > 0.0:
        best = -1
        for i in range(n):
            if width[i] >= 0.0:
                if best < 0:
                    best = i
                elif flip == 0:
                    best = i if slot[target + i, 0] < slot[target + best, 0] else best
                else:
                    best = i if slot[target + i, 0] > slot[target + best, 0] else best
        if best < 0:
            break
        take = min(spare, width[best])
        total += take * slot[target + best, 0]
        spare -= take
        width[best] = -1.0
    slot[target, 0] = total


@inlined
def _interval_sum(slot, bits, target, n, at, lower, upper, by_pairs, flip, rows, total, mass, other, last, best, width, key):
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
                total[r] += min(max(mass[r], 0.0), w0) * slot[target + j, r]
            if j + 1 < n:
                for r in range(rows):
                    total[r] += min(max(other[r], 0.0), w1) * slot[target + j + 1, r]
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
                        if mass[r] <= 0.0:
                            break
    for r in range(rows):
        slot[target, r] = total[r]


@inlined
def _vertex_sum(slot, target, n, first_value, n_vertices, values, flip, rows, total, best):
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
            if rows == 1 and operation in (BINARY_LEAVES, LEAVES):
                _multiply_leaves_of_row(slot, target, n_slots, sides, first, a, a + b, leaf_column, leaf_table, tables, states)
                continue
            if operation == BINARY_LEAVES:
                if sides == 1:
                    _multiply_binary_leaves(slot, target, first, a, a + b, leaf_column, leaf_table, tables, states, rows)
                else:
                    _multiply_binary_leaves_twice(
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
                    _interval_sum_of_two(slot, goal, a, lower, upper, -side, rows)
                elif operation == INTERVALS and rows == 1 and b <= MOST_CHILDREN_PLAIN:
                    _interval_sum_of_row(slot, goal, b, a, lower, upper, -side, width)
                elif operation == INTERVALS:
                    _interval_sum(slot, bits, goal, b, a, lower, upper, first, -side, rows, total, mass, other, last, best, width, key)
                elif operation == VERTICES:
                    _vertex_sum(slot, goal, b, vertex_sets[a, 0], vertex_sets[a, 1], vertices, -side, rows, total, best_value)
                elif operation == COPY:
                    source = a + side * n_slots
                    for r in range(rows):
                        slot[goal, r] = slot[source, r]
                else:
                    _multiply_leaves(slot, goal, side, first, a, a + b, leaf_column, leaf_table, tables, states, rows)
        for r in range(rows):
            for side in range(sides):
                value = slot[root + side * n_slots, r]
                out[side, first_row + start + r] = np.log(min(value, 1.0)) if value > 0.0 else -np.inf
            if sides == 2:  # equal up to rounding may come out crossed
                out[0, first_row + start + r] = min(out[0, first_row + start + r], out[1, first_row + start + r])
            unsafe += 1 if slot[root, r] < safe else 0
    return unsafe


@kernel
def choose_weights(values, at, lower, upper, flip, weights):
    """Write the interval weights that make the sum of `values` smallest (largest when `flip` is -1) to `weights`."""
    n = len(values)
    spare = 1.0
    for i in range(n):
        weights[i] = lower[at + i]
        spare -= lower[at + i]
    order = np.argsort(values)
    for position in range(n):
        i = order[position] if flip == 0 else order[n - 1 - position]
        take = min(max(spare, 0.0), upper[at + i] - lower[at + i])
        weights[i] += take
        spare -= take


@kernel
def _log_sum(values, weights):
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
def _best_vertex(values, vertices, first, stop, flip):
    """Return the best log-sum of `values` over the vertices between `first` and `stop`, and where the best vertex begins."""
    n = len(values)
    best = np.inf if flip == 0 else -np.inf
    best_at = first
    for at in range(first, stop, n):
        value = _log_sum(values, vertices[at : at + n])
        if (flip == 0 and value < best) or (flip != 0 and value > best):
            best = value
            best_at = at
    return best, best_at


@kernel
def _leaf_value(allowed, first_value, at, n, lower, upper, vertices, first_vertex, stop_vertex, flip):
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
        return rest if rest > inside + 1e-12 else inside
    return max(rest, 0.0) if rest < inside - 1e-12 else inside


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
            value = _leaf_value(
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
                best_at = _best_vertex(here, points, point_offset[node], point_offset[node + 1], flip)[1]
                chosen[:] = points[best_at : best_at + n]
            else:
                choose_weights(here, at, lower, upper, flip, chosen)
            values[node] = _log_sum(here, chosen)


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
                            slot[target, r] = _log_sum(values[:b], weights)
                        else:
                            slot[target, r] = _best_vertex(
                                values[:b], vertices, vertex_sets[a, 0], vertex_sets[a, 0] + b * vertex_sets[a, 1], -side
                            )[0]
        for r in range(rows):
            for side in range(sides):
                out[side, start + r] = min(slot[root + side * n_slots, r], 0.0)
            if sides == 2:
                out[0, start + r] = min(out[0, start + r], out[1, start + r])
