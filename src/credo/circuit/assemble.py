"""From nodes, written one by one with their credal sets, to flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.circuit import kinds
from credo.circuit.arrays import CircuitArrays
from credo.credal_sets import Contaminated, CredalSet, Precise, Vertices


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """One node: a leaf (column and set), a product (children), or a sum (children and set)."""

    kind: int
    column: int = -1
    children: tuple[int, ...] = ()
    credal_set: CredalSet | None = None


def assemble(nodes: Sequence[NodeSpec], column_size: Sequence[int]) -> CircuitArrays:
    """Return the arrays of nodes in which children come before their parents and the root is last."""
    hulls = [_lowered(node.credal_set) for node in nodes]
    points = [hull[3] for hull in hulls]
    return CircuitArrays(
        column_size=np.array(column_size, dtype=np.int32),
        kind=np.array([node.kind for node in nodes], dtype=np.uint8),
        column=np.array([node.column for node in nodes], dtype=np.int32),
        child_offset=_offsets([len(node.children) for node in nodes]),
        child=np.array([child for node in nodes for child in node.children], dtype=np.int32),
        set_kind=np.array([_set_kind(node.credal_set) for node in nodes], dtype=np.uint8),
        weight_offset=_offsets([len(hull[0]) for hull in hulls]),
        lower=np.concatenate([hull[0] for hull in hulls]),
        upper=np.concatenate([hull[1] for hull in hulls]),
        centre=np.concatenate([hull[2] for hull in hulls]),
        point_offset=_offsets([len(flat) for flat in points]),
        points=np.concatenate(points),
    )


def reachable(nodes: Sequence[NodeSpec], root: int) -> list[int]:
    """Return the nodes at and below `root`, in their order."""
    seen = {root}
    waiting = [root]
    while waiting:
        for child in nodes[waiting.pop()].children:
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return sorted(seen)


def _offsets(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _set_kind(credal_set: CredalSet | None) -> int:
    if credal_set is None:
        return kinds.NO_SET
    if isinstance(credal_set, Precise):
        return kinds.PRECISE
    if isinstance(credal_set, Contaminated):
        return kinds.CONTAMINATED
    return kinds.VERTICES if isinstance(credal_set.lowered(), Vertices) else kinds.INTERVALS


def _lowered(credal_set: CredalSet | None) -> tuple[NDArray[np.float64], ...]:
    nothing = np.empty(0)
    if credal_set is None:
        return nothing, nothing, nothing, nothing
    lowered = credal_set.lowered()
    if isinstance(lowered, Vertices):
        rows = lowered.points
        return rows.min(axis=0), rows.max(axis=0), lowered.centre, rows.ravel()
    return lowered.lower, lowered.upper, lowered.centre, nothing
