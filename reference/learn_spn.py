"""LearnSPN by its definition: plain Python, slow and obvious, without any kernel.

Logarithms are integers, `round(ln x * 2**24)`, so that a sum of them is one number whatever the order. A table is a list of rows
of codes. A tree is ("leaves", {column: counts}), ("product", {column: counts}, children) or ("sum", counts, children).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

ONE = 2**24
STEP = 2**16  # parts of a nat to which a difference is cut before its exponential is taken
SMOOTHING = 0.1


@dataclass(frozen=True)
class Settings:
    """What a learner is told."""

    g_factor: float = 10.0
    counts: str = "sums"
    cluster_penalty: float = 0.6
    restarts: int = 10
    passes: int = 4
    carry_threshold: bool = False
    fewest_rows: int = 4
    random_state: int = 0


def fixed(x: float) -> int:
    """Return x in fixed point."""
    return round(x * ONE)


def fixed_log(x: float) -> int:
    """Return `ln x` in fixed point."""
    return fixed(math.log(x))


def entropy_term(count: int) -> int:
    """Return `c ln c` in fixed point."""
    return fixed(count * math.log(count)) if count else 0


# Columns that depend on each other


def value_counts(table, rows, column, n_values):
    """Return how many of the rows have each value."""
    return [sum(table[row][column] == value for row in rows) for value in range(n_values)]


def complete_pair_depends(table, rows, x, y, n_values, g_factor):
    """Test two columns without missing cells."""
    half_g = entropy_term(len(rows))
    for a in range(n_values[x]):
        for b in range(n_values[y]):
            half_g += entropy_term(sum(table[row][x] == a and table[row][y] == b for row in rows))
    freedom = 1
    for column in (x, y):
        counts = value_counts(table, rows, column, n_values[column])
        half_g -= sum(map(entropy_term, counts))
        freedom *= sum(count > 0 for count in counts) - 1
    return half_g >= fixed(freedom * g_factor + 0.0005)


def added(numbers):
    """Add from left to right; the built-in function compensates rounding from Python 3.12 on."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def mean_counts(table, rows, x, y, n_values):
    """Return the pair table to which a row with one cell missing adds equal parts for each value there."""
    mean = [[0.0] * n_values[y] for _ in range(n_values[x])]
    for a in range(n_values[x]):
        for b in range(n_values[y]):
            both = sum(table[row][x] == a and table[row][y] == b for row in rows)
            only_y = sum(table[row][x] == -1 and table[row][y] == b for row in rows)
            only_x = sum(table[row][x] == a and table[row][y] == -1 for row in rows)
            mean[a][b] = both + only_y / n_values[x] + only_x / n_values[y]
    return mean


def printed_marginal(table, rows, column, other, n_values):
    """Return the means of the rows of the pair table with each value and of the rows that may have it."""
    marginal = []
    for value in range(n_values[column]):
        surely = sum(table[row][column] == value and table[row][other] != -1 for row in rows)
        possibly = sum(table[row][column] in (value, -1) for row in rows)
        marginal.append((surely + possibly) / 2)
    return marginal


def pair_depends(table, rows, x, y, n_values, settings):
    """Test two columns that may have missing cells."""
    mean = mean_counts(table, rows, x, y, n_values)
    of_x = [added(line) for line in mean]
    of_y = [added(column) for column in zip(*mean, strict=True)]
    n = added(of_x)
    freedom = max(sum(m > 0 for m in of_x) - 1, 0) * max(sum(m > 0 for m in of_y) - 1, 0)
    if settings.counts == "printed":
        of_x, of_y = printed_marginal(table, rows, x, y, n_values), printed_marginal(table, rows, y, x, n_values)
        n = float(len(rows))
    half_g = 0.0
    for a, line in enumerate(mean):
        for b, m in enumerate(line):
            if m > 0:
                half_g += m * math.log(m * n / (of_x[a] * of_y[b]))
    return half_g >= freedom * settings.g_factor + 0.0005


def dependence(table, rows, columns, n_values, settings):
    """Return the matrix of the pairs that depend on each other."""
    complete = all(table[row][column] >= 0 for row in rows for column in columns)
    matrix = [[False] * len(columns) for _ in columns]
    for i, x in enumerate(columns):
        for j, y in enumerate(columns[:i]):
            if complete:
                depends = complete_pair_depends(table, rows, y, x, n_values, settings.g_factor)
            else:
                depends = pair_depends(table, rows, y, x, n_values, settings)
            matrix[i][j] = matrix[j][i] = depends
    return matrix


def groups(matrix):
    """Return the connected components, in the order of their first members."""
    label = list(range(len(matrix)))
    for i, line in enumerate(matrix):
        for j, linked in enumerate(line):
            if linked:
                low, high = sorted((label[i], label[j]))
                label = [low if number == high else number for number in label]
    return [[i for i, number in enumerate(label) if number == first] for first in sorted(set(label))]


# Clusters of rows


def log_likelihood(row, members, n_values):
    """Return the log-likelihood of a row in a cluster of other rows."""
    total = 0
    for column, k in enumerate(n_values):
        same = sum(member[column] == row[column] for member in members)
        total += fixed_log(same + SMOOTHING) - fixed_log(len(members) + SMOOTHING * k)
    return total


def first_opening(n_values, cluster_penalty):
    """Return the threshold: a row in a cluster of its equals, less the penalty."""
    equal = sum(fixed_log(1 + SMOOTHING) - fixed_log(1 + SMOOTHING * k) for k in n_values)
    return equal - fixed(cluster_penalty * len(n_values))


def halved(opening):
    """Halve towards zero."""
    return -(-opening // 2)


def hard_em(cells, n_values, order, opening, passes, halve):
    """Return the slot of each row, and the threshold in the end."""
    slot: list[int | None] = [None] * len(cells)
    done = 0
    while done < passes:
        for row in order:
            slot[row] = None
            members: dict[int, list[tuple[int, ...]]] = {}
            for other, number in enumerate(slot):
                if number is not None:
                    members.setdefault(number, []).append(cells[other])
            best = opening
            for number in sorted(members):
                score = log_likelihood(cells[row], members[number], n_values)
                if score > best:
                    best, slot[row] = score, number
            if slot[row] is None:
                slot[row] = next(number for number in range(len(cells)) if number not in members)
        done += 1
        if len(set(slot)) == 1:
            if not halve:
                break
            opening, done = halved(opening), 0
    return slot, opening


def settled(run, n_rows, opening):
    """Return clusters, their number and whether they are acceptable, moving the threshold until they are neither too few nor too many.

    `run(opening)` returns clusters, how many they are, and whether they divide the rows.
    """
    low = high = crowded = None
    while True:
        found, clusters, divided = run(opening)
        if not divided:
            low = opening
        elif 4 * clusters > n_rows:
            high, crowded = opening, (found, clusters, False)
        else:
            return found, clusters, True
        if low is not None and high is not None and high - low <= max(-low // 10, 1):
            return crowded
        if low is None:
            opening = 2 * opening
        elif high is None:
            opening = halved(opening)
        else:
            opening = (low + high) // 2


def exponential(difference):
    """Return exp(-difference) in units of 2**-24, as the product of two rounded factors."""
    steps = difference // (ONE // STEP)
    upper, lower = divmod(steps, 256)
    return round(math.exp(-upper / 256) * 2**24) * round(math.exp(-lower / STEP) * 2**24) // 2**24


def log_sum_exp(scores):
    """Return the logarithm of the sum of the exponentials of scores."""
    best = max(scores)
    return best + fixed_log(sum(exponential(best - score) for score in scores) / 2**24)


def mixture_score(cells, n_values, slot):
    """Return the log-likelihood of all rows under the mixture of the clusters."""
    members = [[cells[row] for row, number in enumerate(slot) if number == wanted] for wanted in sorted(set(slot))]
    shares = [fixed_log(len(own)) - fixed_log(len(cells)) for own in members]
    return sum(
        log_sum_exp([log_likelihood(row, own, n_values) + share for own, share in zip(members, shares, strict=True)]) for row in cells
    )


def best_restart(run, score, n_rows, n_values, path, settings):
    """Return the clusters of the best restart, the first of equals; one with acceptable clusters beats any other.

    `run(order, opening, halve)` returns clusters, how many they are, whether they divide the rows, and the threshold in the end;
    `score(clusters)` is their log-likelihood.
    """
    penalty = fixed(settings.cluster_penalty * len(n_values))
    opening = first_opening(n_values, settings.cluster_penalty)
    best = None
    rng = np.random.default_rng(np.random.SeedSequence(settings.random_state, spawn_key=path))
    shuffled = np.arange(n_rows, dtype=np.int32)
    for _ in range(settings.restarts):
        rng.shuffle(shuffled)
        order = shuffled.tolist()
        if settings.carry_threshold:
            found, clusters, good, opening = run(order, opening, True)
        else:
            found, clusters, good = settled(lambda opening, order=order: run(order, opening, False)[:3], n_rows, opening)
        value = score(found) - penalty * clusters
        if best is None or (good, value) > best[:2]:
            best = good, value, found
    assert best is not None
    return best[2]


def cluster(cells, n_values, path, settings):
    """Return the label of each row, the slots in use being numbered from zero."""

    def run(order, opening, halve):
        slot, opening = hard_em(cells, n_values, order, opening, settings.passes, halve)
        return slot, len(set(slot)), len(set(slot)) > 1, opening

    best = best_restart(run, lambda slot: mixture_score(cells, n_values, slot), len(cells), n_values, path, settings)
    used = sorted(set(best))
    return [used.index(number) for number in best]


# The tree


def leaves(table, rows, columns, n_values):
    """Return the counts of independent columns."""
    return {column: value_counts(table, rows, column, n_values[column]) for column in columns}


def learn(table, n_values, settings=None, rows=None, columns=None, path=(), tested=True):
    """Return the tree of a slice of the table, by default all of it, which is never tested for independence."""
    settings = settings or Settings()
    rows = list(range(len(table))) if rows is None else rows
    columns = list(range(len(n_values))) if columns is None else columns
    if len(columns) == 1 or len(rows) <= settings.fewest_rows:
        return "leaves", leaves(table, rows, columns, n_values)
    if not tested:
        parts = [[columns[i] for i in group] for group in groups(dependence(table, rows, columns, n_values, settings))]
        if len(parts) > 1:
            alone = [part[0] for part in parts if len(part) == 1]
            children = [learn(table, n_values, settings, rows, part, (*path, number)) for number, part in enumerate(parts) if len(part) > 1]
            own = leaves(table, rows, alone, n_values)
            return ("product", own, children) if children else ("leaves", own)
    cells = [tuple(table[row][column] for column in columns) for row in rows]
    if len(set(cells)) == 1:
        return "leaves", leaves(table, rows, columns, n_values)
    labels = cluster(cells, [n_values[column] for column in columns], path, settings)
    counts, children = [], []
    for number in range(max(labels) + 1):
        own = [row for row, label in zip(rows, labels, strict=True) if label == number]
        child = learn(table, n_values, settings, own, columns, (*path, number), tested=False)
        if child[0] == "sum":
            counts += child[1]
            children += child[2]
        else:
            counts.append(len(own))
            children.append(child)
    return "sum", counts, children
