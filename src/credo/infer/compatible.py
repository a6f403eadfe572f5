"""Precise circuits that are compatible with a credal one: one point chosen in every credal set."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import NO_SET, PRECISE, VERTICES
from credo.credal_sets import Intervals
from credo.errors import CircuitError

Choice = Literal["centre", "vertex_mean"]
CHOICES: tuple[Choice, ...] = ("centre", "vertex_mean")


def compatible(arrays: CircuitArrays, choice: Choice = "centre") -> CircuitArrays:
    """Return the precise circuit of the centres, or of the means of the (limited) extreme points, of all credal sets."""
    if choice not in CHOICES:
        raise CircuitError(f"choice must be one of {', '.join(map(repr, CHOICES))}, got {choice!r}")
    return with_weights(arrays, arrays.centre if choice == "centre" else _vertex_means(arrays))


def with_weights(arrays: CircuitArrays, weights: NDArray[np.float64]) -> CircuitArrays:
    """Return the precise circuit with these weights, laid out as `arrays.centre` is."""
    return replace(
        arrays,
        lower=weights,
        upper=weights,
        centre=weights,
        set_kind=np.where(arrays.set_kind == NO_SET, NO_SET, PRECISE),
        point_offset=np.zeros(arrays.n_nodes + 1, dtype=np.int64),
        points=np.empty(0),
    )


def _vertex_means(arrays: CircuitArrays) -> NDArray[np.float64]:
    weights = arrays.centre.copy()
    by_vertices = arrays.set_kind == VERTICES
    pair = arrays.is_free & (np.diff(arrays.weight_offset) == 2) & ~by_vertices
    one = arrays.weight_offset[:-1][pair]  # of two weights the first one's ends are the extreme points
    low = np.maximum(arrays.lower[one], 1 - arrays.upper[one + 1])
    high = np.minimum(arrays.upper[one], 1 - arrays.lower[one + 1])
    weights[one] = (low + high) / 2
    weights[one + 1] = 1 - weights[one]
    for node in np.flatnonzero(arrays.is_free & ~pair).tolist():
        here = arrays.weights(node)
        if by_vertices[node]:
            weights[here] = arrays.vertices(node).mean(axis=0)
        else:
            weights[here] = Intervals(arrays.lower[here], arrays.upper[here], arrays.centre[here]).vertex_mean
    return weights.clip(0, 1)
