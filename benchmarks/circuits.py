"""Circuits and rows to measure with: random trees of the shape that LearnSPN gives, credal versions, the file for peers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.circuit.assemble import NodeSpec, assemble
from credo.circuit.kinds import LEAF, PRODUCT, SUM
from credo.credal_sets import Contaminated, CredalSet, Intervals, Precise
from credo.credal_sets.weights import Weights
from credo.model.circuit import Circuit
from credo.table.schema import Schema

FEWEST_CHILDREN, MOST_CHILDREN = 2, 20


@dataclass(frozen=True)
class Tree:
    """A random tree over binary columns to measure with."""

    name: str
    n_columns: int
    budget: int  # edges to spend; a part that cannot spend its share leaves it
    seed: int
    direct: tuple[float, float]  # share of a product's columns that become leaves at once

    def build(self) -> Circuit:
        """Return the precise circuit; the same on every machine."""
        growth = _Growth(np.random.default_rng(self.seed), self.direct)
        growth.sum(np.arange(self.n_columns), self.budget)
        sizes = (2,) * self.n_columns
        return Circuit(assemble(growth.nodes, sizes), Schema.of({f"x{column}": 2 for column in range(self.n_columns)}))


SMALL = Tree("small", n_columns=16, budget=4_200, seed=6, direct=(0.05, 0.2))
LARGE = Tree("large", n_columns=70, budget=24_000, seed=5, direct=(0.1, 0.4))
TREES = (SMALL, LARGE)


@dataclass
class _Growth:
    """Grows a tree from the root, handing each part a number of edges to spend; children are written before parents."""

    rng: np.random.Generator
    direct: tuple[float, float]
    nodes: list[NodeSpec] = field(default_factory=list)

    def sum(self, columns: NDArray[np.int64], edges: int) -> int:
        cost = 1 + len(columns)  # of the cheapest child: an edge to a product of leaves
        wanted = round(float(np.exp(self.rng.uniform(np.log(FEWEST_CHILDREN), np.log(MOST_CHILDREN)))))
        n = min(wanted, max(FEWEST_CHILDREN, edges // cost))
        shares = self.rng.dirichlet(np.ones(n)) * max(edges - n * cost, 0)
        children = tuple(self.product(columns, len(columns) + int(share)) for share in shares)
        return self._add(NodeSpec(SUM, children=children, credal_set=Precise(_distribution(self.rng, n))))

    def product(self, columns: NDArray[np.int64], edges: int) -> int:
        shuffled = self.rng.permutation(columns)
        n_direct = int(len(columns) * self.rng.uniform(*self.direct))
        rest = shuffled[n_direct:]
        blocks = [rest] if len(rest) < 6 or self.rng.random() < 0.7 else np.split(rest, [int(self.rng.integers(3, len(rest) - 2))])
        spare = edges - n_direct - len(blocks)
        smallest = sum(FEWEST_CHILDREN * (1 + len(block)) for block in blocks)
        if n_direct == 0 or spare < smallest or min(len(block) for block in blocks) < 2:
            return self._add(NodeSpec(PRODUCT, children=tuple(self.leaf(int(column)) for column in columns)))
        children = [self.leaf(int(column)) for column in shuffled[:n_direct]]
        for block in blocks:
            children.append(self.sum(block, spare * len(block) // len(rest)))
        return self._add(NodeSpec(PRODUCT, children=tuple(children)))

    def leaf(self, column: int) -> int:
        share = float(np.clip(self.rng.beta(0.7, 0.7), 0.02, 0.98))
        return self._add(NodeSpec(LEAF, column=column, credal_set=Precise([1 - share, share])))

    def _add(self, node: NodeSpec) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1


def _distribution(rng: np.random.Generator, n: int) -> Weights:
    weights = rng.dirichlet(np.full(n, 2.0)) + 0.01
    shares: Weights = weights / weights.sum()
    return shares


def contaminated(weights: Weights) -> CredalSet:
    """Return the weights of which a share of 0.05 may be anything."""
    return Contaminated(weights, 0.05)


def relative(weights: Weights) -> CredalSet:
    """Return intervals of 30% of each weight to either side."""
    return Intervals(0.7 * weights, np.minimum(1.3 * weights, 1), weights).tightened()


def absolute(weights: Weights) -> CredalSet:
    """Return intervals of 0.05 to either side of each weight, cut at 0 and 1."""
    return Intervals(np.maximum(weights - 0.05, 0), np.minimum(weights + 0.05, 1), weights).tightened()


CREDAL_SETS: dict[str, Callable[[Weights], CredalSet]] = {
    "contaminated, 0.05": contaminated,
    "intervals, ±30%": relative,
    "intervals, ±0.05": absolute,
}


def credal(circuit: Circuit, credal_set: Callable[[Weights], CredalSet]) -> Circuit:
    """Return the circuit with every weight vector, leaves included, replaced by the set around it."""
    arrays = circuit.arrays
    nodes = [
        NodeSpec(
            int(arrays.kind[node]),
            int(arrays.column[node]),
            tuple(arrays.children(node).tolist()),
            None if arrays.kind[node] == PRODUCT else credal_set(arrays.centre[arrays.weights(node)]),
        )
        for node in range(arrays.n_nodes)
    ]
    return Circuit(assemble(nodes, circuit.schema.sizes), circuit.schema)


def rows(sizes: Sequence[int], n_rows: int, missing: float, seed: int = 0) -> NDArray[np.int8]:
    """Return random codes; each cell is -1 with probability `missing`."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, sizes, size=(n_rows, len(sizes)), dtype=np.int8)
    codes[rng.random(codes.shape, dtype=np.float32) < missing] = -1
    return codes


def share_of_sum_edges(arrays: CircuitArrays) -> float:
    """Return which share of the edges leads from a sum to its children."""
    return float(np.diff(arrays.child_offset)[arrays.kind == SUM].sum() / arrays.n_edges)


def save_for_peers(circuit: Circuit, path: Path) -> None:
    """Write a precise circuit as plain arrays: children before parents, weights of sums and leaves by offsets."""
    arrays = circuit.arrays
    np.savez(
        path,
        column_size=arrays.column_size,
        kind=arrays.kind,
        column=arrays.column,
        child_offset=arrays.child_offset,
        child=arrays.child,
        weight_offset=arrays.weight_offset,
        weight=arrays.centre,
    )
