"""The slow and plain evaluation with a choice of how each node's small linear program is solved.

`vertices` tries every extreme point and `lp` asks HiGHS: checks of the greedy solution that the compiled pass uses, not the
fast path. Values are logarithms throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import logsumexp

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import LEAF, PRODUCT
from credo.credal_sets import Contaminated, Intervals, Precise, Vertices
from credo.credal_sets.weights import Weights
from credo.errors import CircuitError, CredalSetError

MOST_VALUES = 2**24  # values of all nodes held at a time

HIGHS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": True}


def plain_log_bounds(arrays: CircuitArrays, codes: NDArray[Any], solver: str) -> NDArray[np.float64]:
    """Return lower and upper log-probabilities of checked codes, (rows, 2), each node solved by `solver`."""
    sets = {node: _prepared(arrays, node, solver) for node in np.flatnonzero(arrays.kind != PRODUCT).tolist()}
    block = max(MOST_VALUES // (2 * arrays.n_nodes), 1)
    return np.concatenate(
        [np.empty((0, 2)), *(_of_block(arrays, codes[start : start + block], sets) for start in range(0, len(codes), block))]
    )


def _prepared(arrays: CircuitArrays, node: int, solver: str) -> Weights | Intervals | Vertices:
    """Return the extreme points of a node's set, or the set for linear programs."""
    credal_set = arrays.credal_set(node)
    assert isinstance(credal_set, Precise | Intervals | Vertices | Contaminated)
    if solver == "lp":
        return credal_set.lowered()
    try:
        return credal_set.extreme_points()
    except CredalSetError:
        raise CircuitError(
            f"{arrays.name(node)} has {len(credal_set)} weights, too many to try all extreme points; use solver='greedy' or 'lp'"
        ) from None


def _of_block(arrays: CircuitArrays, codes: NDArray[Any], sets: Mapping[int, Weights | Intervals | Vertices]) -> NDArray[np.float64]:
    values: list[NDArray[np.float64]] = []
    for node in range(arrays.n_nodes):
        if arrays.kind[node] == PRODUCT:
            values.append(np.sum([values[child] for child in arrays.children(node)], axis=0))
            continue
        if arrays.kind[node] == LEAF:
            observed = codes[:, arrays.column[node]][:, None]
            with np.errstate(divide="ignore"):
                indicator = np.log((observed < 0) | (observed == np.arange(arrays.column_size[arrays.column[node]])))
            below = np.repeat(indicator[None], 2, axis=0)
        else:
            below = np.stack([values[child] for child in arrays.children(node)], axis=2)
        values.append(_solved(sets[node], below))
    return np.minimum(values[-1], 0.0).T


def _solved(credal_set: Weights | Intervals | Vertices, below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the best log-sums, (2, rows), of log-values (2, rows, children)."""
    if isinstance(credal_set, np.ndarray):
        with np.errstate(divide="ignore"):
            sums = np.array([_log_sum(below, point) for point in credal_set])
        return np.stack([sums[:, 0].min(axis=0), sums[:, 1].max(axis=0)])
    out = np.empty(below.shape[:2])
    for row in range(below.shape[1]):
        for side in (0, 1):
            logs = below[side, row]
            top = logs.max()
            worth = np.exp(logs - top) if np.isfinite(top) else np.zeros(len(logs))
            out[side, row] = _log_sum(logs[None, None], _by_linear_program(credal_set, worth if side == 0 else -worth))[0, 0]
    return out


def _log_sum(logs: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    used = weights > 0
    total: NDArray[np.float64] = logsumexp(logs[..., used], b=weights[used], axis=-1)
    return total


def _by_linear_program(credal_set: Intervals | Vertices, worth: Weights) -> Weights:
    """Return the point with the smallest sum of weight * worth, as HiGHS finds it."""
    if isinstance(credal_set, Vertices):
        scores = credal_set.points @ worth
        ones = np.ones(len(scores))
        answer = linprog(scores, A_eq=ones[None], b_eq=[1.0], bounds=(0, 1), options=HIGHS)
        mixture: Weights = answer.x @ credal_set.points
        return mixture
    # HiGHS works to tolerances of its own: it is given the free mass and each child's share of it, scaled to one.
    room = credal_set.upper - credal_set.lower
    spare = 1 - credal_set.lower.sum()
    if spare <= 0 or room.max() == 0:
        return credal_set.lower
    spare = min(spare, room.sum())
    answer = linprog(worth, A_eq=np.ones((1, len(worth))), b_eq=[1.0], bounds=np.c_[np.zeros(len(room)), room / spare], options=HIGHS)
    weights: Weights = credal_set.lower + spare * answer.x
    return weights
