"""Expectation-maximisation for the weights of a precise circuit, from rows that may miss cells.

Every step counts, for each weight, the rows that pass it in expectation given their known cells, and takes the proportions of these
counts as the new weights. No step makes the rows less likely (with smoothing: rows and pseudo-rows together). What is missing is
taken to be missing at random, which is what intervals do not do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import LEAF, NO_SET, PRODUCT
from credo.infer.compatible import with_weights
from credo.kernels.flows import expected_counts
from credo.learn.freeze import projected

Numbers = NDArray[np.float64]


def expectation_maximisation(arrays: CircuitArrays, codes: NDArray[np.int8], steps: int, smoothing: float = 0.0) -> CircuitArrays:
    """Return the precise circuit that steps of EM lead to from the centres of a circuit.

    Parameters
    ----------
    arrays : CircuitArrays
    codes : int array, (rows, columns)
        -1 where a cell is missing.
    steps : int
    smoothing : float
        For a leaf with K values, K times as many pseudo-rows with the proportions of the column's known cells.
    """
    return with_weights(arrays, _stepped(arrays, codes, steps, smoothing))


def refined(arrays: CircuitArrays, codes: NDArray[np.int8], steps: int, smoothing: float = 0.0) -> CircuitArrays:
    """Return the circuit with the centres that steps of EM lead to, as far as its intervals let them."""
    weights = _stepped(arrays, codes, steps, smoothing)
    sizes = np.diff(arrays.weight_offset)
    used = sizes > 0
    return replace(arrays, centre=projected(arrays.lower, arrays.upper, weights, arrays.weight_offset[:-1][used], sizes[used]))


def _stepped(arrays: CircuitArrays, codes: NDArray[np.int8], steps: int, smoothing: float) -> Numbers:
    sizes = np.diff(arrays.weight_offset)
    used = (arrays.set_kind != NO_SET) & (sizes > 0)
    starts, lengths = arrays.weight_offset[:-1][used], sizes[used]
    pseudo = _pseudo_rows(arrays, codes, smoothing)
    weights = arrays.centre
    for _ in range(steps):
        counts = pseudo.copy()
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)
        layout = arrays.kind == LEAF, arrays.kind == PRODUCT, arrays.column, arrays.child_offset, arrays.child, arrays.weight_offset
        expected_counts(*layout, log_weights, codes, counts)
        totals = np.repeat(np.add.reduceat(counts, starts), lengths)
        weights = np.divide(counts, totals, out=weights.copy(), where=totals > 0)  # what no row passes stays as it is
    return weights


def _pseudo_rows(arrays: CircuitArrays, codes: NDArray[np.int8], smoothing: float) -> Numbers:
    """Return what is added to the counts of leaves."""
    pseudo = np.zeros(len(arrays.centre))
    if not smoothing:
        return pseudo
    shares = []
    for column, k in enumerate(arrays.column_size.tolist()):
        counts = np.bincount(codes[:, column][codes[:, column] >= 0], minlength=k) + 0.5
        shares.append(smoothing * k * counts / counts.sum())
    every = np.concatenate(shares)
    leaves = np.flatnonzero(arrays.kind == LEAF)
    sizes = np.diff(arrays.weight_offset)[leaves]
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    at = np.repeat(arrays.weight_offset[leaves], sizes) + within
    pseudo[at] = every[np.repeat(arrays.value_offset[arrays.column[leaves]], sizes) + within]
    return pseudo
