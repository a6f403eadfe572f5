"""From a learned tree of counts to the arrays of a circuit: proportions where everything was seen, intervals where not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import INTERVALS, LEAF, NO_SET, PRECISE, PRODUCT, SUM
from credo.learn.overlapping import weight_intervals
from credo.learn.trees import Leaves, Node, OpenCounts, Product, Sum, walk

Numbers = NDArray[np.float64]


Toward = Literal["uniform", "columns"]


def freeze(
    root: Node,
    n_values: Sequence[int],
    smoothing: float,
    toward: Toward = "uniform",
    prior_strength: float = 0.0,
    contamination: float = 0.0,
) -> CircuitArrays:
    """Return the circuit of a learned tree.

    Parameters
    ----------
    root : Node
        What a learner returned.
    n_values : sequence of int
        The number of values of each column.
    smoothing : float
        Added to the count of every value of every leaf, for K values K times as much to all of them together.
    toward : {"uniform", "columns"}
        How it is spread over the values of a column: evenly, or so that the probabilities of every column by itself stay what they
        are without it.
    prior_strength : float
        So many more rows at every sum and leaf, which may be in any child and have any value.
    contamination : float
        The share of every credal set's mass that may be anywhere.
    """
    sizes = np.asarray(n_values, dtype=np.int64)
    nodes = list(walk(root))
    nodes.reverse()
    leaves = _AllLeaves.of([node for node in nodes if isinstance(node, Leaves) and len(node.columns)], sizes)
    credal = _Credal(prior_strength, contamination)
    parts = _Parts(sizes, credal, *credal.of_leaves(leaves, _spread(leaves, sizes, smoothing, toward)))
    for node in nodes:
        if isinstance(node, Leaves):
            parts.add_leaves(node)
        elif isinstance(node, Product):
            children = [*parts.leaf_numbers.pop(id(node.leaves)), *(parts.number.pop(id(child)) for child in node.children)]
            parts.number[id(node)] = parts.add_product(children)
        else:
            parts.number[id(node)] = parts.add_sum(node, [parts.of(child) for child in node.children])
    parts.of(root)
    return parts.arrays()


@dataclass(frozen=True, slots=True, eq=False)
class _AllLeaves:
    """The counts of all leaves, one behind the other."""

    columns: NDArray[np.int64]
    sizes: NDArray[np.int64]  # how many values each leaf has
    starts: NDArray[np.int64]  # where they begin
    values: NDArray[np.int64]  # their numbers among all values of all columns
    counts: Numbers
    missing: Numbers  # by leaf
    open: OpenCounts | None  # None where all rows are where they are for certain

    @classmethod
    def of(cls, blocks: list[Leaves], n_values: NDArray[np.int64]) -> _AllLeaves:
        columns = np.concatenate([block.columns for block in blocks]).astype(np.int64)
        sizes = n_values[columns]
        starts = np.cumsum(sizes) - sizes
        within = np.arange(sizes.sum()) - np.repeat(starts, sizes)
        values = np.repeat((np.cumsum(n_values) - n_values)[columns], sizes) + within
        counts = np.concatenate([block.counts for block in blocks]).astype(np.float64)
        none_missing = all(block.missing is None for block in blocks)
        missing = np.zeros(len(columns))
        if not none_missing:
            missing = np.concatenate([np.zeros(len(b.columns)) if b.missing is None else b.missing for b in blocks]).astype(np.float64)
        found = cls(columns, sizes, starts, values, counts, missing, None)
        if all(block.open is None for block in blocks):
            return found
        certain, at, pieces = found.around(), 0, []
        for block in blocks:
            here = slice(at, at + len(block.counts))
            at = here.stop
            pieces.append(certain.part(here) if block.open is None else block.open)
        return replace(found, open=OpenCounts.joined(pieces))

    def by_value(self, of_leaf: NDArray[Any]) -> NDArray[Any]:
        """Return what each leaf has for each of its values."""
        return np.repeat(of_leaf, self.sizes)

    def known(self) -> Numbers:
        """Return how many rows know each leaf's cell."""
        return np.add.reduceat(self.counts, self.starts)

    def around(self) -> OpenCounts:
        """Return what is known of the rows."""
        if self.open is not None:
            return self.open
        known, gaps = self.by_value(self.known()), self.by_value(self.missing)
        return OpenCounts.of_certain(self.counts, known, gaps)


@dataclass(frozen=True, slots=True)
class _Credal:
    """How much imprecision is put on top of what counts leave open."""

    prior_strength: float
    contamination: float

    @property
    def adds(self) -> bool:
        return bool(self.prior_strength or self.contamination)

    def of_leaves(self, leaves: _AllLeaves, spread: Ends) -> tuple[Ends, NDArray[np.bool_]]:
        """Return the weights of all leaves, and which leaves are points."""
        added = spread.of(leaves.values)
        counts = leaves.counts + added.centre
        seen = leaves.by_value(np.add.reduceat(counts, leaves.starts))
        centre = np.divide(counts, seen, out=1 / leaves.by_value(leaves.sizes), where=seen > 0)
        settled = leaves.open is None and not self.adds
        points = settled & (leaves.missing == 0) & (seen[leaves.starts] > 0)
        if spread.is_open:
            points &= np.logical_and.reduceat(added.lower == added.upper, leaves.starts)
        if points.all():
            return Ends(centre, centre, centre), points
        total = leaves.by_value(np.add.reduceat(added.centre, leaves.starts))
        lower, upper = self.ends(leaves.around(), added, total, leaves.by_value(leaves.sizes))
        lower, upper = (np.where(leaves.by_value(points), centre, end) for end in (lower, upper))
        if leaves.open is not None or spread.is_open:
            centre = projected(lower, upper, centre, leaves.starts, leaves.sizes)
        return Ends(lower, upper, centre), points

    def of_sum(self, node: Sum) -> Ends:
        """Return the weights of a sum: proportions, or intervals where rows may be in several clusters."""
        if node.possible is not None:
            assert node.best is not None
            intervals = weight_intervals(node.counts, node.possible, int(np.sum(node.best)), node.best)
            return Ends(intervals.lower, intervals.upper, intervals.centre)
        counts = np.asarray(node.counts, dtype=np.float64)
        total = counts.sum()
        weights = counts / total
        if node.open is None and not self.adds:
            return Ends(weights, weights, weights)
        around = OpenCounts(counts, total - counts, counts, total - counts) if node.open is None else node.open
        none, sizes = np.zeros(len(counts)), np.array([len(counts)])
        lower, upper = self.ends(around, Ends(none, none, none), none, np.repeat(sizes, sizes))
        return Ends(lower, upper, projected(lower, upper, weights, np.array([0]), sizes))

    def ends(self, around: OpenCounts, added: Ends, total: Numbers, sizes: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
        """Return the ends of weights by what is known of the rows and what is added to their counts."""
        least, most = around.sure + added.lower, around.possible + added.upper + self.prior_strength
        below = around.sure + around.elsewhere + total + self.prior_strength
        above = most + around.excluded + total - added.upper
        lower = np.divide(least, below, out=np.zeros(len(least)), where=below > 0)
        upper = np.divide(most, above, out=np.ones(len(most)), where=above > 0)
        lower, upper = (1 - self.contamination) * lower, (1 - self.contamination) * np.minimum(upper, 1) + self.contamination
        lower, upper = np.where(sizes == 1, 1.0, lower), np.where(sizes == 1, 1.0, upper)
        return np.minimum(lower, upper), upper


@dataclass(eq=False)
class _Parts:
    """Blocks of the arrays to be, in the order of the nodes; leaves come in blocks, so that no object stands for a leaf."""

    n_values: NDArray[np.int64]
    credal: _Credal
    leaf_weights: Ends
    leaf_is_point: NDArray[np.bool_]
    next_leaf: int = 0
    next_value: int = 0
    n_nodes: int = 0
    number: dict[int, int] = field(default_factory=dict)  # of sums and products
    leaf_numbers: dict[int, range] = field(default_factory=dict)
    kinds: list[tuple[int, int]] = field(default_factory=list)  # kind, how many nodes
    columns: list[NDArray[np.int64]] = field(default_factory=list)
    set_kinds: list[NDArray[np.uint8]] = field(default_factory=list)
    n_children: list[NDArray[np.int64]] = field(default_factory=list)
    children: list[NDArray[np.int64]] = field(default_factory=list)
    n_weights: list[NDArray[np.int64]] = field(default_factory=list)
    weights: list[tuple[Numbers, Numbers, Numbers]] = field(default_factory=list)  # lower, upper, centre

    def add_leaves(self, block: Leaves) -> None:
        if not len(block.columns):
            self.leaf_numbers[id(block)] = range(0)
            return
        sizes = self.n_values[block.columns]
        here, values = slice(self.next_leaf, self.next_leaf + len(sizes)), slice(self.next_value, self.next_value + len(block.counts))
        self.next_leaf, self.next_value = here.stop, values.stop
        weights = self.leaf_weights
        set_kind = np.where(self.leaf_is_point[here], PRECISE, INTERVALS)
        ends = weights.lower[values], weights.upper[values], weights.centre[values]
        first = self._add(LEAF, len(sizes), np.asarray(block.columns), set_kind, sizes, ends)
        self.leaf_numbers[id(block)] = range(first, first + len(sizes))

    def add_product(self, children: Sequence[int]) -> int:
        return self._add(PRODUCT, 1, np.array([-1]), np.array([NO_SET]), np.array([0]), (np.empty(0),) * 3, children)

    def add_sum(self, node: Sum, children: Sequence[int]) -> int:
        found = self.credal.of_sum(node)
        set_kind = PRECISE if np.array_equal(found.lower, found.upper) else INTERVALS
        ends = found.lower, found.upper, found.centre
        return self._add(SUM, 1, np.array([-1]), np.array([set_kind]), np.array([len(children)]), ends, children)

    def of(self, node: Node) -> int:
        """Return the number of the node that stands for a child of a sum, or for the root."""
        if not isinstance(node, Leaves):
            return self.number.pop(id(node))
        leaves = self.leaf_numbers.pop(id(node))
        return leaves[0] if len(leaves) == 1 else self.add_product(leaves)

    def _add(
        self,
        kind: int,
        how_many: int,
        columns: NDArray[np.int64],
        set_kinds: NDArray[np.int64],
        n_weights: NDArray[np.int64],
        weights: tuple[Numbers, Numbers, Numbers],
        children: Sequence[int] = (),
    ) -> int:
        self.kinds.append((kind, how_many))
        self.columns.append(columns)
        self.set_kinds.append(set_kinds.astype(np.uint8))
        self.n_children.append(np.full(how_many, len(children)))
        self.children.append(np.asarray(children, dtype=np.int64))
        self.n_weights.append(n_weights)
        self.weights.append(weights)
        self.n_nodes += how_many
        return self.n_nodes - how_many

    def arrays(self) -> CircuitArrays:
        lower, upper, centre = (np.concatenate(values) for values in zip(*self.weights, strict=True))
        return CircuitArrays(
            column_size=self.n_values.astype(np.int32),
            kind=np.concatenate([np.full(how_many, kind, np.uint8) for kind, how_many in self.kinds]),
            column=np.concatenate(self.columns),
            child_offset=np.concatenate([[0], np.cumsum(np.concatenate(self.n_children))]),
            child=np.concatenate(self.children),
            set_kind=np.concatenate(self.set_kinds),
            weight_offset=np.concatenate([[0], np.cumsum(np.concatenate(self.n_weights))]),
            lower=lower,
            upper=upper,
            centre=centre,
            point_offset=np.zeros(self.n_nodes + 1, dtype=np.int64),
            points=np.empty(0),
        )


@dataclass(frozen=True, slots=True)
class Ends:
    """Something for every value of every column: at least, at most, and in the middle."""

    lower: Numbers
    upper: Numbers
    centre: Numbers

    def of(self, values: NDArray[np.int64]) -> Ends:
        """Return it for some of the values."""
        return Ends(self.lower[values], self.upper[values], self.centre[values])

    @property
    def is_open(self) -> bool:
        """Whether least and most differ anywhere."""
        return not np.array_equal(self.lower, self.upper)


def _spread(leaves: _AllLeaves, n_values: NDArray[np.int64], smoothing: float, toward: Toward) -> Ends:
    """Return what is added to the count of every value of each column's leaves.

    Toward columns: with n rows at a leaf, added pseudo-rows take the share `A / (n + A)` of its mass, A being K times the smoothing.
    If they hold the values in the proportions that the leaves have on average, each leaf weighted by the mass that is taken from it,
    every column by itself keeps its probabilities: what leaves lose to the pseudo-rows, the pseudo-rows give back. The bounds keep
    theirs in the same way. Where a column has values that no row has, these get half a row in all rows from the pseudo-rows, so that
    they are not impossible.
    """
    sizes = np.repeat(n_values, n_values)
    even = np.full(len(sizes), float(smoothing))
    if toward == "uniform" or not smoothing:
        return Ends(even, even, even)
    known, around = leaves.known(), leaves.around()
    rows = known + leaves.missing

    def mean(shares: Numbers, divisor: Numbers, n: Numbers, unknown: Numbers) -> Numbers:
        weight = leaves.by_value(rows / (n + smoothing * leaves.sizes))
        each = weight * np.divide(shares, divisor, out=unknown[leaves.values], where=divisor > 0)
        whole = np.bincount(leaves.values, weight, minlength=len(sizes))
        found = np.divide(np.bincount(leaves.values, each, minlength=len(sizes)), whole, out=unknown.copy(), where=whole > 0)
        spread: Numbers = smoothing * sizes * ((1 - unseen) * found + unseen / sizes)
        return spread

    never = np.bincount(leaves.values, leaves.counts, minlength=len(sizes)) == 0
    any_never = np.repeat(np.logical_or.reduceat(never, np.cumsum(n_values) - n_values), n_values)
    all_rows = np.repeat(np.bincount(leaves.columns, rows, minlength=len(n_values)), n_values)
    unseen = np.where(any_never, sizes * 0.5 / (all_rows + 1), 0.0).clip(max=1)
    centre = mean(leaves.counts, leaves.by_value(known), known, 1 / sizes)
    lower = mean(around.sure, around.sure + around.elsewhere, rows, np.zeros(len(sizes)))
    upper = mean(around.possible, around.possible + around.excluded, rows, np.ones(len(sizes)))
    # Half a row is left for every value that any row has, even where it is sure of none: no value is impossible.
    return Ends(np.maximum(lower, np.minimum(centre, smoothing * sizes * 0.5 / (all_rows + 1))), upper, centre)


def projected(lower: Numbers, upper: Numbers, centre: Numbers, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Numbers:
    """Return points inside intervals: the given ones, or near them where they lie outside."""
    inside = np.clip(centre, lower, upper)
    excess = np.repeat(np.add.reduceat(inside, starts) - 1, sizes)
    room = np.where(excess > 0, inside - lower, upper - inside)
    all_room = np.repeat(np.add.reduceat(room, starts), sizes)
    moved: Numbers = inside - excess * np.divide(room, all_room, out=np.zeros(len(room)), where=all_room > 0)
    return np.where(np.repeat(np.logical_and.reduceat(inside == centre, starts), sizes), centre, np.clip(moved, lower, upper))
