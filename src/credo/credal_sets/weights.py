"""Checks on weight vectors and counts that every kind of credal set shares."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.errors import CredalSetError
from credo.rounding import ROUNDING, SUM_TOLERANCE

Weights = NDArray[np.float64]


def numbers(values: ArrayLike, what: str, ndim: int = 1) -> Weights:
    """Return `values` as a read-only array of finite numbers with `ndim` dimensions, or say what is wrong with them."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CredalSetError(f"{what} must be {'numbers' if ndim == 1 else 'equally long lists of numbers'}, got {values!r}") from error
    if array.ndim != ndim or array.size == 0:
        raise CredalSetError(f"{what} must be a non-empty {'list' if ndim == 1 else 'list of lists'} of numbers, got {values!r}")
    if not np.isfinite(array).all():
        raise CredalSetError(f"{what} must be finite, got {shown(array.ravel())}")
    return frozen(array)


def frozen(array: Weights) -> Weights:
    """Return a copy that cannot be written to, not even after asking for it."""
    copy: Weights = np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.float64).reshape(array.shape)
    return copy


def distribution(values: ArrayLike, what: str) -> Weights:
    """Return `values` as weights that are not negative and add to one, or say what is wrong with them."""
    weights = numbers(values, what)
    if (weights < 0).any():
        raise CredalSetError(f"{what} {shown(weights)} has a negative entry")
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if abs(total - 1) > SUM_TOLERANCE:
        raise CredalSetError(f"{what} {shown(weights)} add to {total:g}, not to 1; divide them by their sum")
    if abs(total - 1) > ROUNDING:
        weights = weights / total
    return frozen(np.minimum(weights, 1))  # rounding may have left more than 1


def counted(known: ArrayLike, missing: float, smoothing: float) -> tuple[Weights, float]:
    """Return smoothed counts and their total with the missing ones, or say what is wrong with them."""
    counts = numbers(known, "counts")
    numbers([missing, smoothing], "missing and smoothing")
    if (counts < 0).any() or missing < 0 or smoothing < 0:
        raise CredalSetError(f"counts, missing and smoothing must not be negative, got {shown(counts)}, {missing:g} and {smoothing:g}")
    smoothed = counts + smoothing
    return smoothed, float(smoothed.sum() + missing)


def worths(values: ArrayLike, n: int) -> Weights:
    """Return what each of `n` weights is worth, or say what is wrong with the values."""
    found = numbers(values, "values")
    if len(found) != n:
        raise CredalSetError(f"there are {n} weights but {len(found)} values {shown(found)}; give one value for each weight")
    return found


def shown(values: Iterable[float]) -> str:
    """Return numbers as a short list for a message."""
    listed = [f"{value:.12g}" for value in values]
    return "[" + ", ".join(listed if len(listed) <= 12 else [*listed[:10], f"... {len(listed)} in all"]) + "]"
