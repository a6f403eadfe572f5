"""What arrays must satisfy to be a circuit: whole offsets, children before parents, and credal sets that are what they claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.circuit.kinds import CONTAMINATED, LEAF, NO_SET, PRECISE, PRODUCT, SUM, VERTICES
from credo.credal_sets import Vertices
from credo.errors import CircuitError
from credo.rounding import SUM_TOLERANCE

if TYPE_CHECKING:
    from credo.circuit.arrays import CircuitArrays

TOLERANCE = 2 * SUM_TOLERANCE  # of sums that were within SUM_TOLERANCE when they were added up in another order


def check(arrays: CircuitArrays) -> None:
    """Refuse arrays that are no circuit."""
    _check_nodes(arrays)
    _check_numbers(arrays)
    owner = np.repeat(np.arange(arrays.n_nodes), np.diff(arrays.weight_offset))
    _check_intervals(arrays, owner)
    _check_kinds_of_sets(arrays, owner)
    _check_vertices(arrays)


def _check_nodes(arrays: CircuitArrays) -> None:
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


def _check_numbers(arrays: CircuitArrays) -> None:
    for name in ("lower", "upper", "centre", "points"):
        values = getattr(arrays, name)
        if not np.isfinite(values).all() or (values < 0).any() or (values > 1).any():
            raise CircuitError(f"the {name} weights must lie in [0, 1]")


def _check_intervals(arrays: CircuitArrays, owner: NDArray[np.int64]) -> None:
    """Check that the interval hull of every set holds its centre and some weights that add to one."""
    outside = (arrays.lower > arrays.centre + SUM_TOLERANCE) | (arrays.centre > arrays.upper + SUM_TOLERANCE)
    for weight in np.flatnonzero(outside | (arrays.lower > arrays.upper))[:1].tolist():
        raise CircuitError(f"{_weight(arrays, owner, weight)} around {arrays.centre[weight]:.12g}")
    has_set = np.flatnonzero(arrays.set_kind != NO_SET)
    starts = arrays.weight_offset[has_set]
    low, high, mid = (np.add.reduceat(values, starts) for values in (arrays.lower, arrays.upper, arrays.centre))
    for at in np.flatnonzero((low > 1 + TOLERANCE) | (high < 1 - TOLERANCE) | (np.abs(mid - 1) > TOLERANCE))[:1].tolist():
        raise CircuitError(
            f"{arrays.name(has_set[at])}: no weights fit, the lower bounds add to {low[at]:.12g}, the upper ones to {high[at]:.12g} "
            f"and the centre to {mid[at]:.12g}"
        )


def _check_kinds_of_sets(arrays: CircuitArrays, owner: NDArray[np.int64]) -> None:
    """Check that the intervals of single points have no width and that those of contaminations follow from centre and share."""
    kind = arrays.set_kind[owner]
    wide = (arrays.lower != arrays.centre) | (arrays.upper != arrays.centre)
    for weight in np.flatnonzero((kind == PRECISE) & wide)[:1].tolist():
        raise CircuitError(
            f"{_weight(arrays, owner, weight)} around {arrays.centre[weight]:.12g}, but a precise set has no width; give it as intervals"
        )
    share = 1 - np.bincount(owner, arrays.lower, minlength=arrays.n_nodes)[owner]
    lower, upper = (1 - share) * arrays.centre, np.minimum(arrays.lower + share, 1)
    other = (np.abs(arrays.lower - lower) > TOLERANCE) | (np.abs(arrays.upper - upper) > TOLERANCE)
    for weight in np.flatnonzero((kind == CONTAMINATED) & other)[:1].tolist():
        raise CircuitError(
            f"{_weight(arrays, owner, weight)}, but {arrays.centre[weight]:.12g} contaminated by {share[weight]:.12g} is "
            f"[{lower[weight]:.12g}, {upper[weight]:.12g}]"
        )


def _check_vertices(arrays: CircuitArrays) -> None:
    """Check that vertices add to one, span the intervals beside them and have the centre in their hull."""
    nodes = np.flatnonzero(arrays.set_kind == VERTICES)
    shapes = np.stack([np.diff(arrays.point_offset)[nodes], np.diff(arrays.weight_offset)[nodes]], axis=1)
    for n_points, n_weights in np.unique(shapes, axis=0).tolist():
        alike = nodes[(shapes == (n_points, n_weights)).all(axis=1)]
        rows = arrays.points[arrays.point_offset[alike][:, None] + np.arange(n_points)].reshape(len(alike), -1, n_weights)
        here = arrays.weight_offset[alike][:, None] + np.arange(n_weights)
        spanned = (rows.min(axis=1) == arrays.lower[here]) & (rows.max(axis=1) == arrays.upper[here])
        whole = np.abs(rows.sum(axis=2) - 1) <= SUM_TOLERANCE
        for node in alike[~(spanned.all(axis=1) & whole.all(axis=1))][:1].tolist():
            raise CircuitError(f"{arrays.name(node)}: the vertices do not add to one or do not span the intervals stored beside them")
        centre = arrays.centre[here]
        for at in np.flatnonzero((np.abs(rows.mean(axis=1) - centre) > SUM_TOLERANCE).any(axis=1)).tolist():
            if not Vertices(rows[at]).contains(centre[at]):
                raise CircuitError(f"{arrays.name(alike[at])}: the centre is not in the hull of the {len(rows[at])} vertices")


def _weight(arrays: CircuitArrays, owner: NDArray[np.int64], weight: int) -> str:
    node = owner[weight]
    return (
        f"{arrays.name(node)}: weight {weight - arrays.weight_offset[node]} is [{arrays.lower[weight]:.12g}, {arrays.upper[weight]:.12g}]"
    )
