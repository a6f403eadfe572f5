"""Counting rows down a finished structure: which of them surely are at a node, and which may be.

    at the root all rows are, for sure
    a sum sends rows on to its clusters:   that learning gave it and that miss no cell of its columns   where learning put them
                                           other rows that miss no cell of its columns                  to the best cluster
                                           rows with gaps there                                         as the membership rule says
    a row that may be in one cluster only is there as surely as it is at the sum; in several, it only may be in each
    at a leaf a missing cell may hold any value

From these counts follow the bounds of a weight: with `sure` rows of the node in a child, `elsewhere` rows that may be in another
one, `possible` rows that may be in it and `excluded` rows of the node that cannot,

    sure / (sure + elsewhere)  <=  weight  <=  possible / (possible + excluded)

which are the smallest and the largest share that any assignment of the rows gives it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from credo.kernels.counting import rows_with_gaps, value_counts, weighted_value_counts
from credo.learn.membership import FrozenClusters, MembershipRule, checked
from credo.learn.slices import CodeTable, offsets
from credo.learn.trees import Integers, Leaves, Node, Numbers, OpenCounts, Product, Sum


def counted(root: Node, table: CodeTable, rule: MembershipRule, same_rows: bool = True) -> Node:
    """Return the tree with the counts of a table.

    Parameters
    ----------
    root : Node
        What a learner without overlapping clusters returned: its sums tell their clusters.
    table : CodeTable
        The rows to count, over the same columns.
    rule : MembershipRule
        Which clusters rows with gaps may be in.
    same_rows : bool
        Whether row i of the table is the row i of learning, though other cells may be known: complete ones then keep their clusters.
    """
    margin = float(getattr(rule, "room", 0.0))
    start = np.arange(len(table.codes), dtype=np.int32)
    sure = np.ones(len(start))
    # What becomes of a node is put where the node was; its children come later in the list.
    nodes: list[Node] = [root]
    first_child: list[int] = [0]
    pending = [(0, _Rows(start, sure, sure, sure))]
    while pending:
        at, rows = pending.pop()
        node = nodes[at]
        first_child[at] = len(nodes)
        if isinstance(node, Leaves):
            nodes[at] = _leaves(node, table, rows, margin)
            continue
        below = [rows] * len(node.children)
        if isinstance(node, Product):
            nodes[at] = replace(node, leaves=_leaves(node.leaves, table, rows, margin))
        else:
            nodes[at], below = _sum(node, table, rows, rule, same_rows)
        pending.extend((len(nodes) + child, part) for child, part in enumerate(below))
        nodes.extend(node.children)
        first_child.extend([0] * len(node.children))
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        if not isinstance(node, Leaves):
            children = nodes[first_child[at] : first_child[at] + len(node.children)]
            nodes[at] = replace(node, children=tuple(children))  # type: ignore[arg-type]
    return nodes[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows that may be at a node, ascending, with how much of each surely is there, may be there, and most likely is."""

    rows: NDArray[np.int32]
    sure: Numbers
    possible: Numbers
    best: Numbers

    @property
    def are_certain(self) -> bool:
        return self.sure is self.possible or bool((self.sure == self.possible).all())

    def chosen(self, some: Integers | NDArray[np.bool_]) -> _Rows:
        sure = self.sure[some]
        certain = self.sure is self.possible and self.possible is self.best
        return _Rows(self.rows[some], sure, sure if certain else self.possible[some], sure if certain else self.best[some])


def _sum(node: Sum, table: CodeTable, here: _Rows, rule: MembershipRule, same_rows: bool) -> tuple[Sum, list[_Rows]]:
    """Return the counts of a sum, and the rows of each cluster."""
    assert node.columns is not None
    n = len(node.clusters)
    frozen = FrozenClusters.of(node.columns, table.n_values[node.columns], node.clusters)
    gaps = rows_with_gaps(table.codes, here.rows, node.columns)
    labels = _kept_labels(node, here.rows) if same_rows else np.full(len(here.rows), -1)
    labels[gaps] = -1
    lost = np.flatnonzero((labels < 0) & ~gaps)
    labels[lost] = frozen.scores(table.codes, here.rows[lost]).argmax(axis=1)
    open_rows = np.flatnonzero(gaps)
    codes = table.codes[np.ix_(here.rows[open_rows], node.columns)]
    scores = frozen.scores(table.codes, here.rows[open_rows])
    belongs = checked(rule, rule.belongs(frozen, codes, scores), scores)
    alone = (belongs > 0).sum(axis=1) == 1
    labels[open_rows[alone]] = belongs[alone].argmax(axis=1)
    divided, belongs, scores = open_rows[~alone], belongs[~alone], scores[~alone]

    several = here.chosen(divided)
    if belongs.dtype == np.bool_:
        shares = np.zeros((len(divided), n))
        likely = np.eye(n)[scores.argmax(axis=1)]
        possible = np.where(belongs, several.possible[:, None], 0.0)
        sure_at_all = np.where(belongs, several.sure[:, None], 0.0)
    else:
        shares = likely = np.asarray(belongs, np.float64)
        possible = shares * several.possible[:, None]
        sure_at_all = shares * several.sure[:, None]
    single = here.chosen(labels >= 0)
    label = labels[labels >= 0]
    order = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label, minlength=n))
    below = []
    for c, mine in enumerate(np.split(order, ends[:-1])):
        own = single.chosen(mine)
        shared = np.flatnonzero(possible[:, c])
        if len(shared):
            own = _merged(own, several, shared, shares[shared, c], possible[shared, c], likely[shared, c])
        below.append(own)

    def added(weights: Numbers) -> Numbers:
        return np.bincount(label, weights, minlength=n).astype(np.float64)

    best = added(single.best) + several.best @ likely
    sure = added(single.sure) + several.sure @ shares
    if here.are_certain and (not len(divided) or belongs.dtype != np.bool_) and best.sum() > 0:
        return replace(node, counts=best, open=None), below
    only = added(single.possible) + several.possible @ shares
    may = added(single.possible) + possible.sum(axis=0)
    surely_may = added(single.sure) + sure_at_all.sum(axis=0)
    counts = best if best.sum() > 0 else np.exp(frozen.log_shares)
    around = OpenCounts(sure, here.possible.sum() - only, may, here.sure.sum() - surely_may)
    return replace(node, counts=counts, open=around), below


def _kept_labels(node: Sum, rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return where learning put each row, -1 where it did not have it or some cell was missing."""
    learned = np.concatenate([cluster.rows for cluster in node.clusters])
    clusters = np.repeat(np.arange(len(node.clusters)), [len(cluster.rows) for cluster in node.clusters])
    if not len(learned):
        return np.full(len(rows), -1)
    order = np.argsort(learned)
    place = order[np.minimum(np.searchsorted(learned, rows, sorter=order), len(learned) - 1)]
    return np.where(learned[place] == rows, clusters[place], -1)


def _merged(own: _Rows, several: _Rows, shared: Integers, share: Numbers, possible: Numbers, likely: Numbers) -> _Rows:
    """Return the rows that are in a cluster alone and those that share it with others, ascending."""
    rows = np.concatenate([own.rows, several.rows[shared]])
    order = np.argsort(rows)
    sure = np.concatenate([own.sure, several.sure[shared] * share])[order]
    best = np.concatenate([own.best, several.best[shared] * likely])[order]
    return _Rows(rows[order], sure, np.concatenate([own.possible, possible])[order], best)


def _leaves(block: Leaves, table: CodeTable, here: _Rows, margin: float) -> Leaves:
    """Return the counts of a block of leaves."""
    if not len(block.columns):
        return block
    n_values = table.n_values[block.columns]
    first_value = offsets(n_values)
    place = table.codes, here.rows, block.columns, first_value
    if here.are_certain and (here.sure == 1).all():
        counts = value_counts(*place)
        missing = len(here.rows) - np.add.reduceat(counts, first_value[:-1])
        return _with_room(Leaves(block.columns, counts, missing if missing.any() else None), n_values, margin)
    counts, missing = weighted_value_counts(*place, here.best)
    if here.are_certain:
        return _with_room(Leaves(block.columns, counts, missing if missing.any() else None), n_values, margin)
    sure, sure_missing = weighted_value_counts(*place, here.sure)
    may, may_missing = weighted_value_counts(*place, here.possible)
    excluded = np.repeat(here.sure.sum() - sure_missing, n_values) - sure
    around = OpenCounts(sure, here.possible.sum() - may, may + np.repeat(may_missing, n_values), excluded)
    return Leaves(block.columns, counts, missing, around)


def _with_room(block: Leaves, n_values: Integers, margin: float) -> Leaves:
    """Return leaves with room for more rows: so many that intervals are wider than gaps make them by a share.

    With n rows, m of which miss the cell, and e more, an interval is `(m + e) / (n + e)` wide instead of `m / n`.
    """
    if block.missing is None or not margin:
        return block
    missing = np.repeat(np.asarray(block.missing, np.float64), n_values)
    known = np.repeat(np.add.reduceat(block.counts, offsets(n_values)[:-1]), n_values)
    # Where nearly all cells are missing, so many rows would be needed that one more in ten stands for them.
    room = margin * missing / np.maximum(1 - (1 + margin) * missing / np.maximum(known + missing, 1), 0.1)
    around = OpenCounts.of_certain(block.counts.astype(np.float64), known, missing, room)
    return replace(block, open=around)
