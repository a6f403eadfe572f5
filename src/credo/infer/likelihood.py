"""Lower and upper probability of evidence: one pass from the leaves to the root.

Exact for every complete and decomposable circuit, shared nodes included: a node's value never falls when a child's value
rises, and weights are chosen node by node, so one choice of weights attains the bound of every node at once.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.errors import EvidenceError
from credo.infer.evidence import MISSING
from credo.infer.program import SAFE_LOG2, Program
from credo.kernels import node_values, one_row, passes, support
from credo.kernels.jit import interrupted

Solver = Literal["greedy", "vertices", "lp"]
SOLVERS: tuple[Solver, ...] = ("greedy", "vertices", "lp")

CHUNK_ROWS = 2**15  # rows converted at a time: memory is a block of rows, never rows x nodes
_SAFE = 2.0**SAFE_LOG2
_LOG_SAFE = SAFE_LOG2 * math.log(2) + 1e-9  # no row is missed for the rounding of its logarithm


def log_bounds(arrays: CircuitArrays, program: Program, codes: NDArray[Any], solver: Solver = "greedy") -> NDArray[np.float64]:
    """Return the lower and upper log-probability of each row of checked codes, (rows, 2)."""
    if solver not in SOLVERS:
        raise EvidenceError(f"solver must be one of {', '.join(map(repr, SOLVERS))}, got {solver!r}")
    if solver != "greedy":
        from credo.infer.local_programs import plain_log_bounds  # the solvers take a while to import

        return plain_log_bounds(arrays, codes, solver)
    if arrays.is_precise:
        return np.repeat(_log_values(arrays, program, codes, sides=1), 2, axis=0).T
    return _log_values(arrays, program, codes, sides=2).T


def log_likelihood(arrays: CircuitArrays, program: Program, codes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the log-probability of each row of checked codes under a precise circuit."""
    values: NDArray[np.float64] = _log_values(arrays, program, codes, sides=1)[0]
    return values


def log_bounds_of_values(arrays: CircuitArrays, program: Program, allowed: NDArray[np.uint8]) -> tuple[float, float]:
    """Return the lower and upper log-probability that every column takes one of its allowed values."""
    first = arrays.value_offset[:-1]
    n_allowed = np.add.reduceat(allowed, first, dtype=np.int64)
    if ((n_allowed == 1) | (n_allowed == arrays.column_size)).all():  # no sets: the quicker pass over codes will do
        code = np.add.reduceat(allowed * (np.arange(len(allowed)) - np.repeat(first, arrays.column_size)), first)
        codes = np.where(n_allowed == 1, code, MISSING)[None]
        low, high = log_bounds(arrays, program, codes)[0].tolist()
        return low, high
    low, high = (float(node_log_values(arrays, allowed, side)[0][-1]) for side in (0, 1))
    return min(low, high, 0.0), min(high, 0.0)


def node_log_values(arrays: CircuitArrays, allowed: NDArray[np.uint8], side: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every node's smallest (largest for side 1) log-value for one row, and the weights of the sums that give it."""
    values, weights = np.empty(arrays.n_nodes), np.empty(len(arrays.lower))
    node_values.row_pass(
        arrays.kind,
        arrays.column,
        arrays.child_offset,
        arrays.child,
        arrays.weight_offset,
        arrays.lower,
        arrays.upper,
        arrays.point_offset,
        arrays.points,
        arrays.value_offset,
        allowed,
        -side,
        values,
        weights,
    )
    return values, weights


def _log_values(arrays: CircuitArrays, program: Program, codes: NDArray[Any], sides: int) -> NDArray[np.float64]:
    values = np.empty((sides, len(codes)))
    shape = program.operations, program.leaf_column, program.leaf_table, program.n_slots, program.root, arrays.column_size
    weights = arrays.lower, arrays.upper, arrays.centre, program.vertex_sets, arrays.points
    safe = _SAFE if program.may_underflow else 0.0
    if len(codes) == 1:
        one_row.one_row_pass(*shape, program.tables, *weights, codes[0].astype(np.int16), values[:, 0])
        if values[0, 0] >= max(safe, np.finfo(np.float64).tiny):
            np.log(np.minimum(values, 1.0, out=values), out=values)
            values[0, 0] = min(values[0, 0], values[-1, 0])  # equal up to rounding may come out crossed
            return values
    for start in range(0, len(codes), CHUNK_ROWS):
        rows = np.ascontiguousarray(codes[start : start + CHUNK_ROWS], dtype=np.int16)
        try:
            if passes.block_pass(*shape, program.tables, *weights, rows, program.block, safe, values, start):
                _look_again(shape, program, weights, rows, values[:, start : start + len(rows)])
        except SystemError as error:
            raise interrupted(error) from None
    return values


def _look_again(
    shape: tuple[Any, ...], program: Program, weights: tuple[Any, ...], rows: NDArray[np.int16], values: NDArray[np.float64]
) -> None:
    """Replace the values of rows that may have lost something to underflow.

    Most lower values of zero are zeros, and that is quicker to find out than their logarithms would be.
    """
    lower, upper, _, *vertices = weights
    zero = np.flatnonzero((values[0] == -np.inf) & ((values[-1] >= _LOG_SAFE) | (len(values) == 1)))
    positive = np.empty(len(zero), dtype=bool)
    for start in range(0, len(zero), program.block):
        part = slice(start, start + program.block)
        support.support_pass(*shape, program.positive, lower, upper, *vertices, rows[zero[part]], positive[part])
    unsure = values[0] < _LOG_SAFE
    unsure[zero[~positive]] = False
    again = np.flatnonzero(unsure)
    if not len(again):
        return
    second = np.empty((len(values), len(again)))
    passes.log_block_pass(*shape, program.log_tables, *weights, rows[again], program.block, second)
    values[:, again] = second
