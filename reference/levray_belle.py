"""LearnCSPN as published, by its definition: LearnSPN for tables with missing cells, where such rows may be in several clusters.

A table is a list of rows of codes, -1 missing. A tree is ("leaves", {column: (counts, missing)}), ("product", leaves, children) or
("sum", sure, possible, best, children): how many rows are surely, possibly and most likely in each child, the last two None where no
cell is missing. There is one way for all slices; that it is LearnSPN's where no cell is missing is for tests to show.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from reference import learn_spn
from reference.learn_spn import best_restart, dependence, fixed_log, groups, log_sum_exp, value_counts
from reference.overlapping_em import lower as log_likelihood
from reference.overlapping_em import overlapping_em


@dataclass(frozen=True)
class Settings(learn_spn.Settings):
    """What a learner is told."""

    most_clusters: int | None = 16


# Clusters of rows


def mixture_score(cells, n_values, clusters):
    """Return the log-likelihood of all known cells under the mixture of the clusters, each weighted by its share of memberships."""
    memberships = sum(len(cluster.rows) for cluster in clusters)
    shares = [fixed_log(len(cluster.rows)) - fixed_log(memberships) for cluster in clusters]
    return sum(
        log_sum_exp([log_likelihood(cluster, row, n_values) + share for cluster, share in zip(clusters, shares, strict=True)])
        for row in cells
    )


def cluster(cells, n_values, path, settings):
    """Return for each row the clusters that it is in and the best one of them, numbered from zero."""

    def run(order, opening, halve):
        found = overlapping_em(cells, n_values, order, opening, settings.passes, settings.most_clusters, halve)
        return found, len(found.clusters), found.divided, found.opening

    def score(found):
        return mixture_score(cells, n_values, found.clusters.values())

    found = best_restart(run, score, len(cells), n_values, path, settings)
    number = {slot: place for place, slot in enumerate(sorted(found.clusters))}
    return [[number[slot] for slot in slots] for slots in found.slots], [number[slot] for slot in found.best]


# The tree


def leaves(table, rows, columns, n_values):
    """Return the counts of independent columns, and how many rows miss them."""
    counts = {column: value_counts(table, rows, column, n_values[column]) for column in columns}
    return {column: (own, len(rows) - sum(own)) for column, own in counts.items()}


def product(own, children):
    """Return a product, whose own leaves include those among its children."""
    for child in children:
        if child[0] == "leaves":
            own = own | child[1]
    sums = [child for child in children if child[0] == "sum"]
    return ("product", own, sums) if sums else ("leaves", own)


def precise_sum(counts, children):
    """Return a sum over rows without missing cells; the sums among its children are merged into it."""
    merged: list[tuple[int, object]] = []
    for count, child in zip(counts, children, strict=True):
        merged += zip(child[1], child[4], strict=True) if child[0] == "sum" else [(count, child)]
    return "sum", [count for count, _ in merged], None, None, [child for _, child in merged]


def learn(table, n_values, settings=None, rows=None, columns=None, path=(), tested=True):
    """Return the tree of a slice of the table, by default all of it, which is never tested for independence."""
    settings = settings or Settings()
    rows = list(range(len(table))) if rows is None else rows
    columns = list(range(len(n_values))) if columns is None else columns
    cells = [tuple(table[row][column] for column in columns) for row in rows]
    complete = [min(row) >= 0 for row in cells]
    if len(columns) == 1 or sum(complete) <= settings.fewest_rows or len({row for row in cells if min(row) >= 0}) == 1:
        return "leaves", leaves(table, rows, columns, n_values)
    if not tested:
        parts = [[columns[i] for i in group] for group in groups(dependence(table, rows, columns, n_values, settings))]
        if len(parts) > 1:
            alone = [part[0] for part in parts if len(part) == 1]
            children = [learn(table, n_values, settings, rows, part, (*path, number)) for number, part in enumerate(parts) if len(part) > 1]
            return product(leaves(table, rows, alone, n_values), children)
    joined, best = cluster(cells, [n_values[column] for column in columns], path, settings)
    numbers = range(1 + max(map(max, joined)))  # a cluster may be the best one of no row
    members = [[row for row, own in zip(rows, joined, strict=True) if number in own] for number in numbers]
    children = [learn(table, n_values, settings, own, columns, (*path, number), False) for number, own in enumerate(members)]
    possible = [len(own) for own in members]
    if all(complete):
        return precise_sum(possible, children)
    sure = [sum(told and number in own for told, own in zip(complete, joined, strict=True)) for number in numbers]
    return "sum", sure, possible, [best.count(number) for number in numbers], children


# The circuit


def leaf_intervals(counts, missing, smoothing):
    """Return the smallest, the largest and the central probability of each value of a leaf."""
    extra, k = Fraction(smoothing), len(counts)
    known = sum(counts) + k * extra
    rows = known + missing
    return [((c + extra) / rows, (c + missing + extra) / rows, (c + extra) / known if known else Fraction(1, k)) for c in counts]


def weight_intervals(sure, possible, best):
    """Return the smallest, the largest and the central weight of each child of a sum."""
    rows = sum(best or sure)
    lower = [Fraction(count, rows) for count in sure]
    upper = [Fraction(count, rows) for count in possible or sure]
    centre = [Fraction(count, rows) for count in best or sure]
    highest = [min(most, 1 - sum(lower) + least) for least, most in zip(lower, upper, strict=True)]
    lowest = [max(least, 1 - sum(upper) + most) for least, most in zip(lower, upper, strict=True)]
    return list(zip(lowest, highest, centre, strict=True))


def circuit(tree, smoothing=0.0):
    """Return the circuit of a tree in fractions: ("leaf", column, intervals), ("product", children) or ("sum", intervals, children)."""
    if tree[0] == "sum":
        return "sum", weight_intervals(*tree[1:4]), [circuit(child, smoothing) for child in tree[4]]
    parts = [("leaf", column, leaf_intervals(counts, missing, smoothing)) for column, (counts, missing) in sorted(tree[1].items())]
    if tree[0] == "product":
        parts += [circuit(child, smoothing) for child in tree[2]]
    return parts[0] if len(parts) == 1 else ("product", parts)
