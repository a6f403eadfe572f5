"""A circuit as immutable flat arrays, and its named facts.

Nodes are numbered so that children come before their parents; the root is the last one. Per-node lists lie one behind the
other in flat arrays, `offset[node]` to `offset[node + 1]`:

    child           the children of products and sums
    lower, upper,   one weight for each child of a sum and for each value of a leaf: the interval hull of its credal set
      centre          and the point that stands for it
    points          the vertices of a credal set given by vertices, one after the other, each as long as the weights
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.circuit import checks
from credo.circuit.kinds import CONTAMINATED, KIND_NAMES, LEAF, NO_SET, PRECISE, PRODUCT, SUM, VERTICES
from credo.credal_sets import Contaminated, CredalSet, Intervals, Precise, Vertices
from credo.credal_sets.weights import SUM_TOLERANCE
from credo.errors import CircuitError

ROUNDING = 1e-12  # of sums of weights

DTYPES: dict[str, np.dtype[Any]] = {
    "column_size": np.dtype(np.int32),
    "kind": np.dtype(np.uint8),
    "column": np.dtype(np.int32),
    "child_offset": np.dtype(np.int64),
    "child": np.dtype(np.int32),
    "set_kind": np.dtype(np.uint8),
    "weight_offset": np.dtype(np.int64),
    "lower": np.dtype(np.float64),
    "upper": np.dtype(np.float64),
    "centre": np.dtype(np.float64),
    "point_offset": np.dtype(np.int64),
    "points": np.dtype(np.float64),
}


@dataclass(frozen=True, eq=False)
class CircuitArrays:
    """A circuit without names. The constructor takes any arrays, refuses those that are no circuit, and makes them read-only."""

    column_size: NDArray[np.int32]  # number of values of each column
    kind: NDArray[np.uint8]  # LEAF, PRODUCT or SUM
    column: NDArray[np.int32]  # the column of a leaf, else -1
    child_offset: NDArray[np.int64]
    child: NDArray[np.int32]
    set_kind: NDArray[np.uint8]  # the kind of the credal set, NO_SET for products
    weight_offset: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    centre: NDArray[np.float64]
    point_offset: NDArray[np.int64]
    points: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name, dtype in DTYPES.items():
            array = np.array(getattr(self, name), dtype=dtype, order="C")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        _assert_layout(self)
        _assert_credal_sets(self)

    @classmethod
    def from_mapping(cls, arrays: Mapping[str, NDArray[Any]]) -> CircuitArrays:
        """Return the circuit of arrays by name."""
        return cls(**{name: arrays[name] for name in DTYPES})

    def as_mapping(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_nodes(self) -> int:
        """Number of nodes; a leaf is one node, whatever its number of values."""
        return len(self.kind)

    @property
    def n_edges(self) -> int:
        """Number of children of all sums and products."""
        return len(self.child)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.column_size)

    @property
    def root(self) -> int:
        """The number of the root: the last node."""
        return self.n_nodes - 1

    def children(self, node: int) -> NDArray[np.int32]:
        """Return the children of a node."""
        return self.child[self.child_offset[node] : self.child_offset[node + 1]]

    def weights(self, node: int) -> slice:
        """Return where the weights of a node lie in `lower`, `upper` and `centre`."""
        return slice(int(self.weight_offset[node]), int(self.weight_offset[node + 1]))

    def vertices(self, node: int) -> NDArray[np.float64]:
        """Return the vertices of a node's credal set, one a row; no rows unless the set was given by vertices."""
        here = self.weights(node)
        return self.points[self.point_offset[node] : self.point_offset[node + 1]].reshape(-1, max(here.stop - here.start, 1))

    def credal_set(self, node: int) -> CredalSet:
        """Return the credal set of a sum or leaf, of the kind it was given as."""
        here, kind = self.weights(node), self.set_kind[node]
        if kind == NO_SET:
            raise CircuitError(f"{self.name(node)} has no credal set")
        if kind == PRECISE:
            return Precise(self.centre[here])
        if kind == VERTICES:
            return Vertices(self.vertices(node), self.centre[here])
        if kind == CONTAMINATED:
            return Contaminated(self.centre[here], float(np.clip(1 - self.lower[here].sum(), 0, 1)))
        return Intervals(self.lower[here], self.upper[here], self.centre[here])

    def name(self, node: int) -> str:
        """Return a node's kind and number, as messages and pictures show it."""
        return f"{KIND_NAMES[self.kind[node]]} {node}"

    @cached_property
    def value_offset(self) -> NDArray[np.int64]:
        """Where each column's values begin when all columns' values are numbered through."""
        return np.concatenate([[0], np.cumsum(self.column_size, dtype=np.int64)])

    @cached_property
    def is_free(self) -> NDArray[np.bool_]:
        """For each node: whether its credal set holds more than one point.

        Intervals that were not tightened may be wide and yet hold one point only.
        """
        n_weights = np.diff(self.weight_offset)
        owner = np.repeat(np.arange(self.n_nodes), n_weights)
        spare = 1 - np.bincount(owner, self.lower, minlength=self.n_nodes)[owner]
        excess = np.bincount(owner, self.upper, minlength=self.n_nodes)[owner] - 1
        # How far each weight can really go; what rounding alone would take away does not count.
        low, high = self.upper - excess, self.lower + spare
        limited_below, limited_above = low > self.lower + ROUNDING, high < self.upper - ROUNDING
        width = np.where(limited_above, high, self.upper) - np.where(limited_below, low, self.lower)
        apart = width > np.where(limited_below | limited_above, ROUNDING, 0)
        return np.bincount(owner, apart, minlength=self.n_nodes) > 0

    @cached_property
    def is_free_below(self) -> NDArray[np.bool_]:
        """For each node: whether a credal set at it or below it holds more than one point."""
        below: NDArray[np.bool_] = self.is_free.copy()
        for node in np.flatnonzero(self.kind != LEAF).tolist():
            below[node] |= below[self.children(node)].any()
        return below

    @cached_property
    def is_precise(self) -> bool:
        """Whether every credal set is a single point, so that lower and upper values agree."""
        return not bool(self.is_free.any())

    @cached_property
    def is_tree(self) -> bool:
        """Whether no credal set with more than one point is reached from the root by two paths."""
        parents = np.bincount(self.child, minlength=self.n_nodes)
        return not bool((self.is_free_below & (parents > 1)).any())

    @cached_property
    def violations(self) -> list[checks.Violation]:
        """What keeps the circuit from being complete and decomposable."""
        return checks.violations(self)

    @cached_property
    def is_complete(self) -> bool:
        """Whether the children of every sum have the same columns."""
        return not any(violation.kind == SUM for violation in self.violations)

    @cached_property
    def is_decomposable(self) -> bool:
        """Whether the children of every product have no column in common."""
        return not any(violation.kind == PRODUCT for violation in self.violations)

    @cached_property
    def is_selective(self) -> bool:
        """Whether at most one child of every sum can be positive for any row, as found from the columns' possible values."""
        return checks.is_selective(self)

    @cached_property
    def depth(self) -> int:
        """Number of edges on the longest path from the root to a leaf."""
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        for node in np.flatnonzero(self.kind != LEAF).tolist():
            depth[node] = 1 + depth[self.children(node)].max()
        return int(depth[self.root])

    @cached_property
    def n_parameters(self) -> int:
        """Number of weights: one for each child of a sum and each value of a leaf that is no indicator."""
        n_weights = np.diff(self.weight_offset)
        owner = np.repeat(np.arange(self.n_nodes), n_weights)
        certain = np.zeros(self.n_nodes, dtype=bool)
        certain[owner[self.lower == 1]] = True
        return int(n_weights[~(certain & (self.kind == LEAF))].sum())

    @cached_property
    def n_extreme_points(self) -> int:
        """Number of extreme points kept for the credal sets with more than one point: of intervals, the limited ones."""
        total = 0
        for node in np.flatnonzero(self.is_free).tolist():
            here = self.weights(node)
            if self.set_kind[node] == VERTICES:
                total += len(self.vertices(node))
            elif here.stop - here.start == 2:
                total += 2
            else:
                total += len(Intervals(self.lower[here], self.upper[here], self.centre[here]).limited_extreme_points())
        return total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CircuitArrays) and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in DTYPES)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"CircuitArrays({self.n_nodes} nodes, {self.n_edges} edges, {self.n_columns} columns)"


def _assert_layout(arrays: CircuitArrays) -> None:
    n = len(arrays.kind)
    if n == 0 or len(arrays.column_size) == 0 or (arrays.column_size < 2).any():
        raise CircuitError("a circuit needs at least one node and columns of at least two values")
    if len(arrays.column) != n or len(arrays.set_kind) != n:
        raise CircuitError(f"there are {n} kinds, {len(arrays.column)} columns and {len(arrays.set_kind)} credal sets of nodes")
    if arrays.kind.max() > SUM or arrays.set_kind.max() > CONTAMINATED:
        raise CircuitError("a node is of an unknown kind")
    for name, offset, total in (
        ("child", arrays.child_offset, len(arrays.child)),
        ("weight", arrays.weight_offset, len(arrays.lower)),
        ("point", arrays.point_offset, len(arrays.points)),
    ):
        if len(offset) != n + 1 or offset[0] != 0 or offset[-1] != total or (np.diff(offset) < 0).any():
            raise CircuitError(f"the {name} offsets do not divide {total} entries among {n} nodes")
    if len(arrays.upper) != len(arrays.lower) or len(arrays.centre) != len(arrays.lower):
        raise CircuitError(f"there are {len(arrays.lower)} lower, {len(arrays.upper)} upper and {len(arrays.centre)} central weights")
    leaf = arrays.kind == LEAF
    if (arrays.column[leaf] < 0).any() or (arrays.column[leaf] >= arrays.n_columns).any() or (arrays.column[~leaf] != -1).any():
        raise CircuitError(f"a leaf must have a column between 0 and {arrays.n_columns - 1}, and other nodes none")
    n_children, n_weights, n_points = np.diff(arrays.child_offset), np.diff(arrays.weight_offset), np.diff(arrays.point_offset)
    for node in np.flatnonzero(leaf == (n_children > 0))[:1].tolist():
        raise CircuitError(f"{arrays.name(node)} has {n_children[node]} children")
    parent = np.repeat(np.arange(n), n_children)
    for edge in np.flatnonzero((arrays.child < 0) | (arrays.child >= parent))[:1].tolist():
        raise CircuitError(f"{arrays.name(parent[edge])} has node {arrays.child[edge]} as a child; children must come before their parents")
    unused = np.bincount(arrays.child, minlength=n) == 0
    for node in np.flatnonzero(unused[:-1])[:1].tolist():
        raise CircuitError(f"{arrays.name(node)} is no child of any node and not the root")
    expected = np.where(leaf, arrays.column_size[np.maximum(arrays.column, 0)], np.where(arrays.kind == SUM, n_children, 0))
    for node in np.flatnonzero(n_weights != expected)[:1].tolist():
        raise CircuitError(
            f"{arrays.name(node)} has {n_weights[node]} weights for {expected[node]} {'values' if leaf[node] else 'children'}"
        )
    for node in np.flatnonzero((arrays.set_kind == NO_SET) != (arrays.kind == PRODUCT))[:1].tolist():
        raise CircuitError(f"{arrays.name(node)} {'has a' if arrays.kind[node] == PRODUCT else 'needs a'} credal set")
    by_vertices = arrays.set_kind == VERTICES
    for node in np.flatnonzero((by_vertices != (n_points > 0)) | (n_points % np.maximum(n_weights, 1) != 0))[:1].tolist():
        raise CircuitError(f"{arrays.name(node)} has {n_points[node]} numbers as vertices of {n_weights[node]} weights")


def _assert_credal_sets(arrays: CircuitArrays) -> None:
    for name in ("lower", "upper", "centre", "points"):
        values = getattr(arrays, name)
        if not np.isfinite(values).all() or (values < 0).any() or (values > 1).any():
            raise CircuitError(f"the {name} weights must lie in [0, 1]")
    owner = np.repeat(np.arange(arrays.n_nodes), np.diff(arrays.weight_offset))
    outside = (arrays.lower > arrays.centre + SUM_TOLERANCE) | (arrays.centre > arrays.upper + SUM_TOLERANCE)
    for weight in np.flatnonzero(outside | (arrays.lower > arrays.upper))[:1].tolist():
        raise CircuitError(
            f"{arrays.name(owner[weight])}: weight {weight - arrays.weight_offset[owner[weight]]} is [{arrays.lower[weight]:.12g}, "
            f"{arrays.upper[weight]:.12g}] around {arrays.centre[weight]:.12g}"
        )
    has_set = np.flatnonzero(arrays.set_kind != NO_SET)
    starts = arrays.weight_offset[has_set]
    low, high, mid = (np.add.reduceat(values, starts) for values in (arrays.lower, arrays.upper, arrays.centre))
    tolerance = 10 * SUM_TOLERANCE
    for at in np.flatnonzero((low > 1 + tolerance) | (high < 1 - tolerance) | (np.abs(mid - 1) > tolerance))[:1].tolist():
        raise CircuitError(
            f"{arrays.name(has_set[at])}: no weights fit, the lower bounds add to {low[at]:.12g}, the upper ones to {high[at]:.12g} "
            f"and the centre to {mid[at]:.12g}"
        )
    for node in np.flatnonzero(arrays.set_kind == VERTICES).tolist():
        here, rows = arrays.weights(node), arrays.vertices(node)
        hull = np.array_equal(rows.min(axis=0), arrays.lower[here]) and np.array_equal(rows.max(axis=0), arrays.upper[here])
        if not hull or (np.abs(rows.sum(axis=1) - 1) > tolerance).any():
            raise CircuitError(f"{arrays.name(node)}: the vertices do not add to one or do not span the intervals stored beside them")
