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

from credo.circuit import checks, layout
from credo.circuit.kinds import CONTAMINATED, KIND_NAMES, LEAF, NO_SET, PRECISE, PRODUCT, SUM, VERTICES
from credo.credal_sets import Contaminated, CredalSet, Intervals, Precise, Vertices
from credo.errors import CircuitError
from credo.rounding import ROUNDING

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
        layout.check(self)

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
                total += Intervals(self.lower[here], self.upper[here], self.centre[here]).n_limited_extreme_points
        return total

    def __reduce__(self) -> tuple[type[CircuitArrays], tuple[NDArray[Any], ...]]:
        return CircuitArrays, tuple(self.as_mapping().values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CircuitArrays) and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in DTYPES)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"CircuitArrays({self.n_nodes} nodes, {self.n_edges} edges, {self.n_columns} columns)"
