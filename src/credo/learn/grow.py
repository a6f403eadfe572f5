"""Growing a tree: cut the table into independent groups of columns and clusters of rows, in turn, down to single columns.

    slice of rows and columns  ->  one column, few rows, or equal rows:      leaves
                               ->  several groups of dependent columns:      product, each group a slice
                               ->  else clusters of rows:                    sum, each cluster a slice

What becomes of a slice depends on its cells, its path and its share of the nodes alone, never on the order of work. So slices are
worked off from a list, without recursion, and any of them may be left to another worker.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from time import monotonic
from typing import TypeAlias

import numpy as np
from joblib import effective_n_jobs

from credo.errors import CredoWarning
from credo.kernels.dependence import components
from credo.kernels.jit import interrupted
from credo.learn.clustering import Clustering, HardEM
from credo.learn.independence import GTest, IndependenceTest
from credo.learn.overlapping import Memberships, OverlappingEM, becomes_leaves
from credo.learn.slices import UNCOUNTED, CodeTable, Slice
from credo.learn.trees import Cluster, Counts, Leaves, Node, Product, Sum
from credo.learn.workers import ALONE, Workers

SHARES = 4  # with several workers, slices above 1/(4 * workers) of the table are cut by all of them together
TASKS = 64  # and slices below 1/(64 * workers) of it are grown several at a time
SECONDS_BETWEEN_REPORTS = 0.1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far learning has come: cells of slices that wait, of all cells of the table, and what is done."""

    slices_done: int
    cells_left: int
    all_cells: int
    nodes: int


def warn(message: str) -> None:
    """Give a warning to whoever called the estimator."""
    warnings.warn(message, CredoWarning, stacklevel=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grower:
    """Learn the structure of a sum-product network from a table.

    Slices without missing cells are clustered as LearnSPN does it. In those with missing cells a row may be in several clusters; or,
    without `overlapping`, it is in one by its known cells, and sums tell their clusters, so that rows can be counted anew.

    Parameters
    ----------
    independence : IndependenceTest
        Which columns depend on each other.
    clustering : Clustering
        Which rows belong together where no cell is missing.
    overlapping : OverlappingEM or None
        Which clusters the rows are in where cells are missing.
    test_whole : bool
        Whether the whole table may fall into independent groups of columns, too.
    fewest_rows : int
        A slice with at most so many rows without missing cells becomes a product of leaves.
    max_nodes : int or None
        The tree gets at most so many nodes, or those of one product of leaves. Every slice has a share by its cells. Where clusters
        are too many for it the largest stay and the rows of the others stay together; what cannot be cut becomes a product of leaves.
    random_state : int
        Same table, settings and number: same tree.
    n_jobs : int or None
        Threads, as in joblib: None is one unless a joblib context says otherwise, -1 all processors. The tree is the same.
    watch : callable or None
        Is told the progress now and then.
    say : callable
        Is told where `max_nodes` cut the tree short.
    """

    independence: IndependenceTest = field(default_factory=GTest)
    clustering: Clustering = field(default_factory=HardEM)
    overlapping: OverlappingEM | None = field(default_factory=OverlappingEM)
    test_whole: bool = False
    fewest_rows: int = 4
    max_nodes: int | None = None
    random_state: int = 0
    n_jobs: int | None = None
    watch: Callable[[Progress], None] | None = None
    say: Callable[[str], None] = warn

    def learn(self, table: CodeTable) -> Node:
        """Return the tree."""
        whole = replace(table.whole(), tested=not self.test_whole)
        work = _Work(whole.cells, self.watch)
        try:
            tree = self._grow_all(whole, work)
        except BaseException as error:
            work.cancelled = True  # workers that are still busy stop at their next slice
            if isinstance(error, SystemError):
                raise interrupted(error) from None
            raise
        if work.stopped:
            rows, columns = max(work.stopped)[1:3]
            self.say(
                f"max_nodes={self.max_nodes} was reached: {len(work.stopped)} slices of the table (the largest with {rows} rows and "
                f"{columns} columns) became products of leaves, or have fewer clusters, as they would have exceeded their shares. "
                "Raise max_nodes, or cluster_penalty for a smaller circuit."
            )
        return tree

    def _grow_all(self, whole: Slice, work: _Work) -> Node:
        start = _Open(whole, self.max_nodes)
        workers = effective_n_jobs(self.n_jobs)
        if workers == 1:
            return self._grow(work, start)
        # Not joblib's own threads: they are asked for results every ten milliseconds, which is as long as many a slice takes.
        with ThreadPoolExecutor(workers) as pool:
            try:
                pieces = self._cut_all(start, work, Workers(workers, pool.map), whole.cells / (SHARES * workers))
                deferred = [(at, piece) for at, piece in enumerate(pieces) if isinstance(piece, _Open)]
                batches = _batches(deferred, whole.cells / (TASKS * workers))
                grown = list(pool.map(partial(self._grow_several, work), [[piece for _, piece in batch] for batch in batches]))
            except BaseException:
                work.cancelled = True
                pool.shutdown(cancel_futures=True)
                raise
        for batch, trees in zip(batches, grown, strict=True):
            for (at, _), tree in zip(batch, trees, strict=True):
                pieces[at] = tree
        return _assembled(pieces)

    def _grow_several(self, work: _Work, starts: list[_Open]) -> list[Node]:
        """Return the trees of slices that are one task together."""
        return [self._grow(work, start) for start in starts]

    def _grow(self, work: _Work, start: _Open) -> Node:
        """Return the tree of a slice, on one worker."""
        return _assembled(self._cut_all(start, work))

    def _cut_all(self, start: _Open, work: _Work, workers: Workers = ALONE, smallest: float = 0) -> list[_Piece]:
        """Cut a slice, its parts and so on down to leaves; slices with fewer cells than `smallest` stay as they are.

        What a slice was cut into replaces it in the list; its parts come later in the list.
        """
        pieces: list[_Piece] = [start]
        pending = [0]
        while pending:
            at = pending.pop()
            here = pieces[at]
            assert isinstance(here, _Open)
            if here.part.cells < smallest:
                continue
            joint, parts = self._cut(here.part, workers)
            shares = _shares(here, joint, parts)
            if shares is None and here.most_nodes is not None and isinstance(joint, _Joint):
                affordable = (here.most_nodes - 1) // (len(here.part.columns) + 1)
                if joint.counts is not None and affordable > 1:
                    work.stop(here.part)
                    joint, parts = _fewer(joint.counts, parts, affordable)
                    shares = _shares(here, joint, parts)
            if shares is None:
                work.stop(here.part)
                joint, parts, shares = here.part.leaves(), [], []
            work.done(here.part, joint, parts)
            if isinstance(joint, _Joint):
                joint.first = len(pieces)
            pieces[at] = joint
            pending.extend(range(len(pieces), len(pieces) + len(parts)))
            pieces.extend(_Open(part, share) for part, share in zip(parts, shares, strict=True))
        return pieces

    def _cut(self, part: Slice, workers: Workers) -> tuple[Leaves | _Joint, list[Slice]]:
        """Return the leaves that a slice becomes, or what joins its parts, and the parts."""
        if len(part.columns) == 1 or len(part.rows) <= self.fewest_rows:
            return part.leaves(), []
        several = self.overlapping if part.has_gaps else None
        if several is not None and becomes_leaves(part, self.fewest_rows):
            return part.leaves(), []
        if not part.tested:
            groups = components(self.independence.dependence(part, workers))
            sizes = np.bincount(groups)
            if len(sizes) > 1:
                large = np.flatnonzero(sizes > 1)
                alone = part.leaves_of(sizes[groups] == 1)
                return _Joint(alone, len(large)), [part.group(int(number), groups == number) for number in large]
        if several is not None:
            memberships = several.cluster(part, self.random_state, workers)
            parts = memberships.parts(part)
            joint = _Joint(None, len(parts), _overlapping_sum(memberships))
        else:
            parts = part.clusters(self.clustering.cluster(part, self.random_state, workers))
            joint = _Joint(None, len(parts), self._sum_of(part, parts))
        return (joint, parts) if len(parts) > 1 else (part.leaves(), [])

    def _sum_of(self, part: Slice, parts: list[Slice]) -> Sum:
        """Return a sum over clusters, still without its children."""
        counts = np.array([len(child.rows) for child in parts])
        if self.overlapping is not None:
            return Sum(counts, ())
        clusters = tuple(Cluster(child.n_telling_rows, child.counts, child.complete_rows) for child in parts)
        return Sum(counts, (), columns=part.columns, clusters=clusters)


@dataclass(frozen=True, slots=True)
class _Open:
    """A slice that waits, and how many nodes it may become."""

    part: Slice
    most_nodes: int | None


@dataclass(slots=True)
class _Joint:
    """A product, with its own leaves, or a sum, with its counts, whose parts are elsewhere in the list."""

    leaves: Leaves | None
    n_parts: int
    counts: Sum | None = None
    first: int = 0


_Piece: TypeAlias = "_Open | Leaves | Product | Sum | _Joint"


@dataclass(slots=True)
class _Work:
    """What all workers have done together, and whether they should go on."""

    cells_left: int
    watch: Callable[[Progress], None] | None
    all_cells: int = 0
    slices_done: int = 0
    nodes: int = 0
    stopped: set[tuple[int, int, int, tuple[int, ...]]] = field(default_factory=set)  # cells, rows, columns, paths of slices not cut
    cancelled: bool = False
    reported: float = 0.0
    lock: Lock = field(default_factory=Lock)

    def stop(self, part: Slice) -> None:
        self.stopped.add((part.cells, len(part.rows), len(part.columns), part.path))

    def done(self, part: Slice, joint: Leaves | _Joint, parts: list[Slice]) -> None:
        if self.cancelled:
            raise RuntimeError("learning was interrupted")
        with self.lock:
            self.slices_done += 1
            self.cells_left += sum(child.cells for child in parts) - part.cells
            self.all_cells = max(self.all_cells, self.cells_left)
            leaves = joint.leaves if isinstance(joint, _Joint) else joint
            self.nodes += 1 + (0 if leaves is None else len(leaves.columns))
            if self.watch is not None and (monotonic() - self.reported > SECONDS_BETWEEN_REPORTS or not self.cells_left):
                self.reported = monotonic()
                self.watch(Progress(self.slices_done, self.cells_left, self.all_cells, self.nodes))


def _batches(deferred: list[tuple[int, _Open]], cells: float) -> list[list[tuple[int, _Open]]]:
    """Return slices in batches, the largest first, so that all workers end at about the same time.

    Small ones go together until they have so many cells: handing over a task takes as long as growing a slice of a few rows.
    """
    batches: list[list[tuple[int, _Open]]] = []
    filled = cells
    for item in sorted(deferred, key=lambda item: -item[1].part.cells):
        if filled >= cells:
            batches.append([])
            filled = 0
        batches[-1].append(item)
        filled += item[1].part.cells
    return batches


def _shares(here: _Open, joint: Leaves | _Joint, parts: list[Slice]) -> list[int | None] | None:
    """Return how many nodes each part may become; None where even products of leaves would be too many.

    Each part gets what a product of leaves takes and, of what is left, a share by its cells: so the limit holds whatever the
    order of work.
    """
    if here.most_nodes is None or not isinstance(joint, _Joint):
        return [None] * len(parts)
    needed = [len(part.columns) + 1 for part in parts]
    spare = here.most_nodes - 1 - sum(needed) - (0 if joint.leaves is None else len(joint.leaves.columns))
    if spare < 0:
        return None
    all_cells = sum(part.cells for part in parts)
    return [need + spare * part.cells // all_cells for need, part in zip(needed, parts, strict=True)]


def _fewer(counts: Sum, parts: list[Slice], most: int) -> tuple[_Joint, list[Slice]]:
    """Return at most so many clusters: the largest in their order, and the rows of all others as the last one."""
    largest = np.argsort([-len(part.rows) for part in parts], kind="stable")
    kept, others = np.sort(largest[: most - 1]), np.sort(largest[most - 1 :])
    rows = np.unique(np.concatenate([parts[at].rows for at in others]))
    last = replace(parts[others[0]], rows=rows, counts=UNCOUNTED)

    def merged(numbers: Counts) -> Counts:
        return np.append(numbers[kept], numbers[others].sum())

    fewer = replace(counts, counts=merged(counts.counts))
    if counts.clusters:
        joined = [counts.clusters[at] for at in others]
        complete = np.sort(np.concatenate([c.rows for c in joined]))
        rest = Cluster(sum(c.size for c in joined), np.sum([c.counts for c in joined], axis=0), complete)
        fewer = replace(fewer, clusters=(*(counts.clusters[at] for at in kept), rest))
    if counts.possible is not None and counts.best is not None:
        fewer = replace(fewer, possible=np.append(counts.possible[kept], len(rows)), best=merged(counts.best))
    return _Joint(None, most, fewer), [*(parts[at] for at in kept), last]


def _assembled(pieces: list[_Piece]) -> Node:
    """Return the tree of the first piece, of which no slice is left."""
    trees: dict[int, Node] = {}
    for at in range(len(pieces) - 1, -1, -1):
        piece = pieces[at]
        if isinstance(piece, _Joint):
            children = [trees.pop(child) for child in range(piece.first, piece.first + piece.n_parts)]
            trees[at] = _sum(piece.counts, children) if piece.counts is not None else _product(piece.leaves, children)
        else:
            assert not isinstance(piece, _Open)
            trees[at] = piece
    return trees[0]


def _product(own: Leaves | None, children: list[Node]) -> Product | Leaves:
    """Return a product; leaves among its parts become its own, and where there is nothing else it is they."""
    leaves = [child for child in children if isinstance(child, Leaves)]
    if own is not None:
        leaves.insert(0, own)
    sums = tuple(child for child in children if isinstance(child, Sum))
    return Product(_joined(leaves), sums) if sums else _joined(leaves)


def _sum(whole: Sum, children: list[Node]) -> Sum:
    """Return a sum; a sum among its children is merged into it where the weights of both are certain.

    Weights that are not would no longer be free to vary one without the other.
    """
    if whole.possible is not None:
        return replace(whole, children=tuple(children))
    counts: list[Counts] = []
    merged: list[Node] = []
    clusters: list[Cluster] = []
    for at, child in enumerate(children):
        if isinstance(child, Sum) and child.possible is None:
            counts.append(child.counts)
            merged.extend(child.children)
            clusters.extend(child.clusters)
        else:
            counts.append(whole.counts[at : at + 1])
            merged.append(child)
            clusters.extend(whole.clusters[at : at + 1])
    return replace(whole, counts=np.concatenate(counts), children=tuple(merged), clusters=tuple(clusters))


def _joined(blocks: list[Leaves]) -> Leaves:
    """Return several blocks of leaves as one."""
    if len(blocks) == 1:
        return blocks[0]
    with_gaps = any(block.missing is not None for block in blocks)
    missing = [np.zeros(len(block.columns), int) if block.missing is None else block.missing for block in blocks]
    return Leaves(
        np.concatenate([block.columns for block in blocks]),
        np.concatenate([block.counts for block in blocks]),
        np.concatenate(missing) if with_gaps else None,
    )


def _overlapping_sum(memberships: Memberships) -> Sum:
    """Return the counts of clusters that may share rows."""
    n = memberships.n_clusters
    complete = np.bincount(memberships.best[memberships.complete], minlength=n)
    return Sum(complete, (), np.bincount(memberships.clusters, minlength=n), np.bincount(memberships.best, minlength=n))
