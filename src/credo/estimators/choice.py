"""Choosing settings by rows that were not learned from: the smoothing, and the smallest of the structures that are as good as the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.infer.compatible import compatible
from credo.infer.likelihood import log_likelihood
from credo.infer.program import compile_program
from credo.learn.freeze import Toward, freeze
from credo.learn.trees import Node
from credo.table.schema import Schema

Codes: TypeAlias = NDArray[np.int8]
Numbers: TypeAlias = NDArray[np.float64]

SMOOTHINGS = (2.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
MORE_SMOOTHINGS = (32.0, 16.0, 8.0, 4.0, *SMOOTHINGS)  # larger ones do no harm where columns keep their probabilities
G_FACTORS = (15.0, 10.0, 7.0, 5.0)  # from the smallest circuit to the largest
PUBLISHED_G_FACTOR = 10.0
HELD_OUT = 0.1  # share of the rows that choose where no other rows are given


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A learned tree and the settings it goes with.

    Parameters
    ----------
    tree : Node
    schema : Schema
    g_factor, smoothing : float
    seconds : float
        How long learning and counting took.
    n_rows : int
        Of the table.
    said : list of str
        What the user should know of it, if it is the one that is taken.
    toward, prior_strength, contamination
        See `credo.learn.freeze.freeze`.
    """

    tree: Node
    schema: Schema
    g_factor: float
    smoothing: float
    seconds: float
    n_rows: int
    said: list[str]
    toward: Toward
    prior_strength: float
    contamination: float

    def arrays(self) -> CircuitArrays:
        """Return the circuit."""
        settings = self.smoothing, self.toward, self.prior_strength, self.contamination
        return freeze(self.tree, self.schema.sizes, *settings)


Grow: TypeAlias = Callable[[Codes, float, float], Grown]  # from rows, g_factor and smoothing


def chosen(
    grow: Grow, codes: Codes, chosen_by: Codes | None, factors: Sequence[float], smoothings: Sequence[float], random_state: int
) -> Grown:
    """Return what is learned from all rows with the settings that are best for others.

    Parameters
    ----------
    grow : callable
        Learns from rows with a g_factor and a smoothing.
    codes : int array
        The rows to learn from.
    chosen_by : int array or None
        The rows to choose by; without, a tenth of those to learn from, drawn by `random_state`, and then all are learned from.
    factors, smoothings : sequences of float
        What to choose from: g_factors from the smallest circuit to the largest, and smoothings.
    """
    if len(factors) == len(smoothings) == 1:
        return grow(codes, factors[0], smoothings[0])
    learned_from = codes
    if chosen_by is None:
        kept, held_out = _divided(len(codes), random_state)
        if not len(held_out):
            factor = factors[0] if len(factors) == 1 else PUBLISHED_G_FACTOR
            return grow(codes, factor, smoothings[0] if len(smoothings) == 1 else 1.0)
        learned_from, chosen_by = codes[kept], codes[held_out]
    found = [_best_smoothing(grow(learned_from, factor, smoothings[0]), smoothings, chosen_by) for factor in factors]
    best = max((rows for _, rows in found), key=lambda rows: rows.mean())
    taken = next(grown for grown, rows in found if _as_good(rows, best))
    return taken if learned_from is codes else grow(codes, taken.g_factor, taken.smoothing)


def _best_smoothing(grown: Grown, smoothings: Sequence[float], codes: Codes) -> tuple[Grown, Numbers]:
    """Return the tree with the smoothing that is best for some rows, the first of equals, and their log-likelihoods."""
    tried = []
    for smoothing in smoothings:
        candidate = replace(grown, smoothing=smoothing)
        central = compatible(candidate.arrays())
        tried.append((candidate, log_likelihood(central, compile_program(central), codes)))
    return max(tried, key=lambda one: one[1].mean())


def _divided(n_rows: int, random_state: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from and those held out to choose by, each in their order."""
    order = np.random.default_rng(random_state).permutation(n_rows)
    n_held_out = round(HELD_OUT * n_rows)
    return np.sort(order[n_held_out:]), np.sort(order[:n_held_out])


def _as_good(rows: NDArray[np.float64], best: NDArray[np.float64]) -> bool:
    """Tell whether log-likelihoods of rows are those of the best model, or as good up to a standard error of the difference."""
    if rows is best:
        return True
    if not np.isfinite(rows).all() or not np.isfinite(best).all():
        return bool(rows.mean() >= best.mean())
    behind = best - rows
    return bool(behind.mean() <= behind.std() / len(behind) ** 0.5)
