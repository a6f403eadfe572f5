"""Completeness, decomposability and selectivity of a circuit."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.circuit.kinds import LEAF, PRODUCT, SUM

if TYPE_CHECKING:
    from credo.circuit.arrays import CircuitArrays

Bits = NDArray[np.uint8]  # one bit a column, packed


@dataclass(frozen=True)
class Violation:
    """A sum whose children differ in these columns, or a product whose children share them."""

    node: int
    kind: int
    columns: tuple[int, ...]

    def message(self, names: Sequence[str]) -> str:
        """Return what is wrong in words: the node and the columns by name."""
        shown = ", ".join(names[column] for column in self.columns)
        if self.kind == PRODUCT:
            return f"product {self.node}: columns {{{shown}}} are in two children"
        return f"sum {self.node}: columns {{{shown}}} are in some children and not in others"


def violations(arrays: CircuitArrays) -> list[Violation]:
    """Return every violation of completeness and decomposability, children before parents."""
    found = []
    width = (arrays.n_columns + 7) // 8
    for node, leaf_columns, inner, scope in _scopes(arrays):
        if arrays.kind[node] == PRODUCT:
            n_columns = len(leaf_columns) + sum(int(np.bitwise_count(other).sum()) for other in inner)
            if n_columns != np.bitwise_count(scope).sum():
                times = np.bincount(leaf_columns, minlength=arrays.n_columns)
                for other in inner:
                    times = times + _unpacked(other, arrays.n_columns)
                found.append(Violation(node, PRODUCT, tuple(np.flatnonzero(times > 1).tolist())))
        else:
            common = np.full(width, 255, dtype=np.uint8)
            for other in inner:
                common &= other
            if len(leaf_columns):
                one = np.packbits(np.bincount(leaf_columns[:1], minlength=arrays.n_columns).astype(bool))
                common &= one if (leaf_columns == leaf_columns[0]).all() else 0
            missing = _unpacked(scope & ~common, arrays.n_columns)
            if missing.any():
                found.append(Violation(node, SUM, tuple(np.flatnonzero(missing).tolist())))
    return found


def columns_below(arrays: CircuitArrays, nodes: Container[int]) -> dict[int, list[int]]:
    """Return the columns of those of `nodes` that are sums and products, in the order of the columns."""
    return {node: np.flatnonzero(_unpacked(scope, arrays.n_columns)).tolist() for node, _, _, scope in _scopes(arrays) if node in nodes}


def is_selective(arrays: CircuitArrays) -> bool:
    """Tell whether any two children of a sum have a column in which they can take no common value."""
    first = arrays.value_offset
    possible: dict[int, NDArray[np.bool_]] = {}  # of sums and products: which values of which columns each can take

    def values_of(node: int) -> NDArray[np.bool_]:
        if arrays.kind[node] != LEAF:
            return possible[node]
        values = np.zeros(first[-1], dtype=bool)
        at = first[arrays.column[node]]
        upper = arrays.upper[arrays.weights(node)]
        values[at : at + len(upper)] = upper > 0
        return values

    for node in np.flatnonzero(arrays.kind != LEAF).tolist():
        children = arrays.children(node).tolist()
        if arrays.kind[node] == SUM:
            upper = arrays.upper[arrays.weights(node)]
            children = [child for child, most in zip(children, upper, strict=True) if most > 0]
            values = np.array([values_of(child) for child in children])
            together = ~np.eye(len(children), dtype=bool)  # pairs not yet told apart by a column
            for column in range(arrays.n_columns):
                here = values[:, first[column] : first[column + 1]].astype(np.float32)
                if here.any():
                    together &= here @ here.T > 0
            if together.any():
                return False
            possible[node] = np.logical_or.reduce(values, axis=0)
        else:
            possible[node] = np.logical_or.reduce(np.array([values_of(child) for child in children]), axis=0)
    return True


def _scopes(arrays: CircuitArrays) -> Iterator[tuple[int, NDArray[np.int32], list[Bits], Bits]]:
    """Yield every sum and product with the columns of its leaves, the columns of each of its other children, and all its columns."""
    scopes: dict[int, Bits] = {}  # of sums and products only: most nodes are leaves
    for node in np.flatnonzero(arrays.kind != LEAF).tolist():
        children = arrays.children(node)
        leaf = arrays.kind[children] == LEAF
        leaf_columns = arrays.column[children[leaf]]
        inner = [scopes[child] for child in children[~leaf].tolist()]
        scope = np.packbits(np.bincount(leaf_columns, minlength=arrays.n_columns).astype(bool))
        for other in inner:
            scope = scope | other
        scopes[node] = scope
        yield node, leaf_columns, inner, scope


def _unpacked(bits: Bits, n_columns: int) -> NDArray[np.bool_]:
    return np.unpackbits(bits, count=n_columns).astype(bool)
