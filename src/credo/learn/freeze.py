"""From a learned tree of counts to the arrays of a circuit: proportions where everything was seen, intervals where not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import INTERVALS, LEAF, NO_SET, PRECISE, PRODUCT, SUM
from credo.learn.overlapping import weight_intervals
from credo.learn.trees import Leaves, Node, Product, Sum, walk

Numbers = NDArray[np.float64]


def freeze(root: Node, n_values: Sequence[int], smoothing: float) -> CircuitArrays:
    """Return the circuit of a learned tree.

    Parameters
    ----------
    root : Node
        What a learner returned.
    n_values : sequence of int
        The number of values of each column.
    smoothing : float
        Added to the count of every value of every leaf.
    """
    parts = _Parts(np.asarray(n_values, dtype=np.int64), smoothing)
    for node in reversed(list(walk(root))):
        if isinstance(node, Leaves):
            parts.add_leaves(node)
        elif isinstance(node, Product):
            children = [*parts.leaf_numbers.pop(id(node.leaves)), *(parts.number.pop(id(child)) for child in node.children)]
            parts.number[id(node)] = parts.add_product(children)
        else:
            parts.number[id(node)] = parts.add_sum(node, [parts.of(child) for child in node.children])
    parts.of(root)
    return parts.arrays()


@dataclass(eq=False)
class _Parts:
    """Blocks of the arrays to be, in the order of the nodes; leaves come in blocks, so that no object stands for a leaf."""

    n_values: NDArray[np.int64]
    smoothing: float
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
        counts = block.counts + self.smoothing
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        known = np.add.reduceat(counts, starts)
        missing = np.zeros(len(sizes)) if block.missing is None else np.asarray(block.missing, dtype=np.float64)
        total, gaps, seen = (np.repeat(values, sizes) for values in (known + missing, missing, known))
        with np.errstate(invalid="ignore", divide="ignore"):
            nothing = total == 0
            lower = np.where(nothing, 0.0, counts / total)
            upper = np.where(nothing, 1.0, np.minimum((counts + gaps) / total, 1.0))
            centre = np.where(seen > 0, counts / seen, 1 / np.repeat(sizes, sizes))
        precise = missing == 0
        lower, upper = (np.where(np.repeat(precise, sizes) & ~nothing, centre, ends) for ends in (lower, upper))
        set_kind = np.where(precise & (known > 0), PRECISE, INTERVALS)
        first = self._add(LEAF, len(sizes), np.asarray(block.columns), set_kind, sizes, (lower, upper, centre))
        self.leaf_numbers[id(block)] = range(first, first + len(sizes))

    def add_product(self, children: Sequence[int]) -> int:
        return self._add(PRODUCT, 1, np.array([-1]), np.array([NO_SET]), np.array([0]), (np.empty(0),) * 3, children)

    def add_sum(self, node: Sum, children: Sequence[int]) -> int:
        lower, upper, centre = weights_of(node)
        set_kind = PRECISE if np.array_equal(lower, upper) else INTERVALS
        return self._add(SUM, 1, np.array([-1]), np.array([set_kind]), np.array([len(children)]), (lower, upper, centre), children)

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


def weights_of(node: Sum) -> tuple[Numbers, Numbers, Numbers]:
    """Return the lower, upper and central weights of a sum: proportions, or intervals where rows may be in several clusters."""
    if node.possible is None:
        weights = np.asarray(node.counts, dtype=np.float64) / np.sum(node.counts)
        return weights, weights, weights
    assert node.best is not None
    intervals = weight_intervals(node.counts, node.possible, int(np.sum(node.best)), node.best)
    return intervals.lower, intervals.upper, intervals.centre
