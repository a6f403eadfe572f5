"""Random credal sets and circuits, as reference nodes and as Credo circuits, and the rows to ask them about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from credo import Circuit, CircuitBuilder, Contaminated, Intervals, Precise, Vertices
from credo.credal_sets import CredalSet
from reference import circuits as ref
from reference.credal import Box, Contamination, Hull, LocalSet, Point, vertices
from reference.worlds import enumerated_bounds, n_combinations, values_of_all_networks

MOST_COMBINATIONS = 400


@dataclass(frozen=True)
class RandomCircuit:
    root: ref.Node
    sizes: tuple[int, ...]

    @property
    def names(self) -> list[str]:
        return [f"column {c}" for c in range(len(self.sizes))]

    def build(self) -> Circuit:
        return build(self.root, self.sizes)


def random_circuit(seed: int, shared: bool = False, most_columns: int = 4, most_combinations: int = MOST_COMBINATIONS) -> RandomCircuit:
    """Return a circuit whose combinations of vertices can be enumerated; `shared` nodes may have several parents."""
    rng = np.random.default_rng(seed)
    sizes = tuple(int(size) for size in rng.integers(2, 5, size=int(rng.integers(1, most_columns + 1))))
    if np.prod(sizes) > 72:
        sizes = sizes[:3]
    return RandomCircuit(_Maker(rng, sizes, shared, most_combinations).node(tuple(range(len(sizes))), 0), sizes)


class _Maker:
    def __init__(self, rng: np.random.Generator, sizes: tuple[int, ...], shared: bool, budget: int) -> None:
        self.rng, self.sizes, self.shared, self.budget = rng, sizes, shared, budget
        self.made: dict[tuple[int, ...], list[ref.Node]] = {}

    def node(self, scope: tuple[int, ...], depth: int) -> ref.Node:
        old = self.made.setdefault(scope, [])
        if self.shared and old and self.rng.random() < 0.4:
            return old[self.rng.integers(len(old))]
        new = self.new_node(scope, depth)
        old.append(new)
        return new

    def new_node(self, scope: tuple[int, ...], depth: int) -> ref.Node:
        choice = self.rng.random()
        if len(scope) == 1 and (depth >= 3 or choice < 0.6):
            return ref.Leaf(scope[0], self.credal_set(self.sizes[scope[0]]))
        if choice < 0.06 and depth < 4:
            return ref.Product((self.node(scope, depth + 1),))
        if len(scope) > 1 and (depth >= 3 or choice < 0.45):
            cut = int(self.rng.integers(1, len(scope)))
            shuffled = self.rng.permutation(scope).tolist()
            parts = [shuffled[:cut], shuffled[cut:]]
            if len(parts[1]) > 1 and self.rng.random() < 0.3:
                parts[1:] = [parts[1][:1], parts[1][1:]]
            return ref.Product(tuple(self.node(tuple(sorted(part)), depth + 1) for part in parts))
        n = int(self.rng.choice([1, 2, 2, 2, 3, 3, 4, 5]))
        own = self.credal_set(n)
        return ref.Sum(tuple(self.node(scope, depth + 1) for _ in range(n)), own)

    def credal_set(self, n: int) -> LocalSet:
        found = random_set(self.rng, n)
        n_vertices = len(vertices(found))
        if n_vertices > self.budget:
            return Point(random_point(self.rng, n))
        self.budget //= n_vertices
        return found


def random_point(rng: np.random.Generator, n: int) -> tuple[float, ...]:
    """Return a weight vector, often with zeros."""
    draws = rng.dirichlet(np.ones(n))
    keep = rng.random(n) < (1.0 if rng.random() < 0.6 else 0.5)
    draws = np.where(keep, draws, 0.0)
    if draws.sum() == 0:
        draws[rng.integers(n)] = 1.0
    return tuple((draws / draws.sum()).tolist())


def random_box(rng: np.random.Generator, n: int) -> Box:
    """Return intervals around a point: narrow or wide, also out of reach, of width zero, vacuous, or at the ends."""
    inside = np.array(random_point(rng, n))
    kind = rng.integers(6)
    if kind == 0:
        return Box((0.0,) * n, (1.0,) * n)
    down, up = rng.random(n), rng.random(n)
    if kind == 1:
        down, up = down * 1e-3, up * 1e-3
    if kind == 2:
        down, up = down * (rng.random(n) < 0.5), up * (rng.random(n) < 0.5)
    if kind == 3:
        down, up = np.zeros(n), np.zeros(n)
    lower, upper = np.maximum(inside - down * inside, 0.0), np.minimum(inside + up * (1 - inside), 1.0)
    if kind == 4:
        upper = np.where(rng.random(n) < 0.5, 1.0, upper)  # more than the others leave
    return Box(tuple(np.minimum(lower, inside).tolist()), tuple(np.maximum(upper, inside).tolist()))


def random_set(rng: np.random.Generator, n: int) -> LocalSet:
    """Return a credal set of any kind."""
    kind = rng.integers(8)
    if kind < 2:
        return Point(random_point(rng, n))
    if kind < 5:
        return random_box(rng, n)
    if kind < 7:
        return Hull(tuple(random_point(rng, n) for _ in range(rng.integers(1, 5))))
    return Contamination(random_point(rng, n), float(rng.choice([0.0, 0.05, 0.5, 1.0, rng.random()])))


def random_point_of(rng: np.random.Generator, credal_set: LocalSet) -> tuple[float, ...]:
    """Return a random mixture of the vertices of a set."""
    points = np.array(vertices(credal_set))
    return tuple((rng.dirichlet(np.full(len(points), 0.7)) @ points).tolist())


def to_credo(credal_set: LocalSet) -> CredalSet:
    """Return the same set as the library writes it."""
    match credal_set:
        case Point(weights):
            return Precise(weights)
        case Box(lower, upper):
            return Intervals(lower, upper)
        case Hull(points):
            return Vertices(points)
        case Contamination(weights, epsilon):
            return Contaminated(weights, epsilon)


def build(root: ref.Node, sizes: Sequence[int]) -> Circuit:
    """Return the circuit of reference nodes, over columns called "column 0", "column 1" and so on."""
    builder = CircuitBuilder({f"column {c}": size for c, size in enumerate(sizes)})
    made = {}
    for node in ref.nodes(root):
        below = [made[child] for child in ref.children(node)]
        if isinstance(node, ref.Leaf):
            made[node] = builder.leaf(f"column {node.column}", to_credo(node.credal_set))
        elif isinstance(node, ref.Product):
            made[node] = builder.product(below)
        else:
            made[node] = builder.sum(below, to_credo(node.credal_set))
    return builder.freeze(made[root])


def rows_with_gaps(sizes: Sequence[int], most: int | None = None, seed: int = 0) -> NDArray[np.int64]:
    """Return every row of codes and gaps, nothing known first; a random choice of `most` of them if there are more."""
    rows = np.array(list(product(*(range(-1, size) for size in sizes))))
    if most is not None and len(rows) > most:
        rows = rows[np.r_[0, 1 + np.random.default_rng(seed).permutation(len(rows) - 1)[: most - 1]]]
    return rows


def enumerate_bounds(circuit: RandomCircuit, evidence: Sequence) -> NDArray[np.float64]:
    """Return lower and upper probabilities of evidence by trying all vertices in all worlds."""
    assert n_combinations(circuit.root) <= MOST_COMBINATIONS
    return enumerated_bounds(values_of_all_networks(circuit.root, circuit.sizes), evidence, circuit.sizes)


def assert_log_bounds(found: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    """Assert that log-values agree with expected probabilities: to 1e-9, and their logarithms too where not tiny."""
    assert found.shape == expected.shape
    assert not np.isnan(found).any()
    assert (found <= 0).all()
    np.testing.assert_allclose(np.exp(found), expected, rtol=0, atol=1e-9)
    large = expected > 1e-12
    np.testing.assert_allclose(found[large], np.log(expected[large]), rtol=1e-9, atol=1e-9)
