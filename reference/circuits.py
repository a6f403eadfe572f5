"""A circuit as nested nodes: a leaf has a column and a credal set, a product has children, a sum has both.

A node that is used by several parents is one object; nodes are told apart by identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.credal import Box, Hull, LocalSet

if TYPE_CHECKING:
    from credo.circuit.arrays import CircuitArrays


@dataclass(frozen=True, eq=False)
class Leaf:
    """A distribution over the values of one column."""

    column: int
    credal_set: LocalSet


@dataclass(frozen=True, eq=False)
class Product:
    """A product of nodes over disjoint columns."""

    children: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Sum:
    """A mixture of nodes over the same columns."""

    children: tuple[Node, ...]
    credal_set: LocalSet


Node = Leaf | Product | Sum


def nodes(root: Node) -> list[Node]:
    """Return every node at and below `root` once, children before their parents."""
    found: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in found:
            for child in children(node):
                visit(child)
            found[node] = None

    visit(root)
    return list(found)


def children(node: Node) -> tuple[Node, ...]:
    """Return the children of a node; a leaf has none."""
    return () if isinstance(node, Leaf) else node.children


def scope(node: Node) -> frozenset[int]:
    """Return the columns of a node."""
    return frozenset((node.column,)) if isinstance(node, Leaf) else frozenset[int]().union(*map(scope, node.children))


def paths(root: Node) -> Iterator[Node]:
    """Return the end of every path from `root` downwards: a node comes as often as paths lead to it."""
    yield root
    for child in children(root):
        yield from paths(child)


def from_arrays(arrays: CircuitArrays) -> Node:
    """Return the circuit that flat arrays describe, read entry by entry."""
    made: list[Node] = []
    for i in range(len(arrays.kind)):
        below = tuple(made[child] for child in arrays.child[arrays.child_offset[i] : arrays.child_offset[i + 1]].tolist())
        if arrays.kind[i] == 1:
            made.append(Product(below))
            continue
        start, stop = int(arrays.weight_offset[i]), int(arrays.weight_offset[i + 1])
        flat = arrays.points[arrays.point_offset[i] : arrays.point_offset[i + 1]].tolist()
        credal_set: LocalSet = Box(tuple(arrays.lower[start:stop].tolist()), tuple(arrays.upper[start:stop].tolist()))
        if flat:
            n = stop - start
            credal_set = Hull(tuple(tuple(flat[k : k + n]) for k in range(0, len(flat), n)))
        made.append(Sum(below, credal_set) if arrays.kind[i] == 2 else Leaf(int(arrays.column[i]), credal_set))
    return made[-1]
