"""Hard EM with rows in several clusters, by definition: clusters are sets of completed rows and everything is counted anew."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

Row = tuple[int, ...]  # codes, -1 missing

SMOOTHING = 0.1
ONE = 2**24  # logarithms are whole numbers of 1/ONE, so that no sum depends on its order


def log(x: float) -> int:
    """Return the natural logarithm in units of 1/ONE."""
    return round(math.log(x) * ONE)


@dataclass
class Cluster:
    """Rows by their number, each as it is and as it was completed when it joined."""

    rows: dict[int, Row] = field(default_factory=dict)
    completed: dict[int, Row] = field(default_factory=dict)

    def known(self, column: int) -> list[int]:
        """Return the known values of a column."""
        return [row[column] for row in self.rows.values() if row[column] >= 0]

    def filled(self, column: int) -> list[int]:
        """Return the values that the missing cells of a column were completed with."""
        return [self.completed[number][column] for number, row in self.rows.items() if row[column] < 0]

    def rarest(self, column: int, n_values: int) -> int:
        """Return the value that the fewest rows have, the first of several."""
        return min(range(n_values), key=self.known(column).count)


def log_share(values: Sequence[int], value: int, n_values: int) -> int:
    """Return the logarithm of the smoothed share of a value."""
    return log(values.count(value) + SMOOTHING) - log(len(values) + SMOOTHING * n_values)


def lower(cluster: Cluster, row: Row, n_values: Sequence[int]) -> int:
    """Return the log-likelihood of the known cells."""
    return sum(log_share(cluster.known(v), code, n_values[v]) for v, code in enumerate(row) if code >= 0)


def worst_case(cluster: Cluster, row: Row, n_values: Sequence[int]) -> int:
    """Return what the missing cells add to the upper log-likelihood."""
    worst = 0
    for v, code in enumerate(row):
        if code < 0:
            rarest = cluster.rarest(v, n_values[v])
            worst += log_share(cluster.known(v), rarest, n_values[v])
            if cluster.filled(v):
                worst -= log_share(cluster.filled(v), rarest, n_values[v])
    return worst


def joined(clusters: dict[int, Cluster], row: Row, n_values: Sequence[int], opening: int, most: int | None) -> tuple[list[int], int | None]:
    """Return the slots of the clusters that a row joins, and of the best one among them."""
    values: dict[int, int] = {}
    kept: list[int] = []
    best, best_upper = None, opening
    for slot, cluster in sorted(clusters.items()):
        values[slot] = lower(cluster, row, n_values)
        if values[slot] > (opening if best is None else values[best]):
            best, best_upper = slot, values[slot] + worst_case(cluster, row, n_values)
            kept = [*(other for other in kept if values[other] >= best_upper), slot]
        elif values[slot] > best_upper:
            kept.append(slot)
    return sorted(sorted(kept, key=lambda slot: (-values[slot], slot))[:most]), best


@dataclass(frozen=True)
class Outcome:
    """The slots of each row, the best one among them, the clusters by slot, whether they divide the complete rows, the threshold."""

    slots: list[list[int]]
    best: list[int]
    clusters: dict[int, Cluster]
    divided: bool
    opening: int

    def score(self, rows: Sequence[Row], n_values: Sequence[int]) -> float:
        """Return the log-likelihood of the known cells under the mixture of the clusters, weighted by memberships."""
        memberships = sum(len(cluster.rows) for cluster in self.clusters.values())
        return math.fsum(
            math.log(math.fsum(len(c.rows) / memberships * math.exp(lower(c, row, n_values) / ONE) for c in self.clusters.values()))
            for row in rows
        )


def threshold(n_values: Sequence[int], cluster_penalty: float) -> int:
    """Return what a row must beat to join a cluster: the log-likelihood in a cluster of its equals, less the penalty."""
    own = sum(log(1 + SMOOTHING) - log(1 + SMOOTHING * k) for k in n_values)
    return own - round(cluster_penalty * len(n_values) * ONE)


def overlapping_em(
    rows: Sequence[Row],
    n_values: Sequence[int],
    order: Sequence[int],
    opening: int,
    passes: int = 4,
    most: int | None = None,
    halve: bool = True,
) -> Outcome:
    """Cluster rows; at least two complete ones must differ."""
    clusters: dict[int, Cluster] = {}
    complete = {number for number, row in enumerate(rows) if min(row) >= 0}
    best_of = [-1] * len(rows)
    done = 0
    divided = True
    while done < passes:
        for number in order:
            row = rows[number]
            for slot in slots_of(clusters, number):
                del clusters[slot].rows[number], clusters[slot].completed[number]
                if not clusters[slot].rows:
                    del clusters[slot]
            slots, best = joined(clusters, row, n_values, opening, most)
            if best is None:
                best = next(slot for slot in count() if slot not in clusters)
                clusters[best] = Cluster()
                slots = [best]
            for slot in slots:
                filled = tuple(code if code >= 0 else clusters[slot].rarest(v, n_values[v]) for v, code in enumerate(row))
                clusters[slot].rows[number], clusters[slot].completed[number] = row, filled
            best_of[number] = best
        done += 1
        divided = not any(complete <= cluster.rows.keys() for cluster in clusters.values())
        if not divided:
            if not halve:
                break
            done = 0
            opening = -(-opening // 2)
    return Outcome([list(slots_of(clusters, number)) for number in range(len(rows))], best_of, clusters, divided, opening)


def slots_of(clusters: dict[int, Cluster], number: int) -> Iterator[int]:
    """Return the slots of the clusters that a row is in, ascending."""
    return iter([slot for slot, cluster in sorted(clusters.items()) if number in cluster.rows])
