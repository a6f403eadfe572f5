"""Credal sets by definition: extreme points in every order of filling, limited extreme points, reachability, tightening."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

Weights = tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """One weight vector."""

    weights: Weights


@dataclass(frozen=True)
class Box:
    """The weight vectors between `lower` and `upper` that add to one."""

    lower: Weights
    upper: Weights


@dataclass(frozen=True)
class Hull:
    """The mixtures of the given weight vectors."""

    points: tuple[Weights, ...]


@dataclass(frozen=True)
class Contamination:
    """The vectors `(1 - epsilon) * weights + epsilon * q` for every weight vector q."""

    weights: Weights
    epsilon: float


LocalSet = Point | Box | Hull | Contamination


def n_weights(credal_set: LocalSet) -> int:
    """Return how many weights a vector of the set has."""
    match credal_set:
        case Point(weights) | Contamination(weights, _):
            return len(weights)
        case Box(lower, _):
            return len(lower)
        case Hull(points):
            return len(points[0])


def vertices(credal_set: LocalSet) -> list[Weights]:
    """Return vectors of which the set is the hull, each once."""
    match credal_set:
        case Point(weights):
            return [weights]
        case Hull(points):
            return distinct(points)
        case Contamination(weights, epsilon):
            n = len(weights)
            return distinct(tuple((1 - epsilon) * weights[i] + epsilon * (i == k) for i in range(n)) for k in range(n))
        case Box(lower, upper):
            return extreme_points(lower, upper)


def extreme_points(lower: Weights, upper: Weights) -> list[Weights]:
    """Return every extreme point of intervals: start from the lower bounds and fill up in every order."""
    return distinct(filled(lower, upper, order) for order in permutations(range(len(lower))))


def limited_extreme_points(lower: Weights, upper: Weights) -> list[Weights]:
    """Return the points found by filling index i first and then the following ones cyclically, for every i."""
    n = len(lower)
    return distinct(filled(lower, upper, [(i + k) % n for k in range(n)]) for i in range(n))


def filled(lower: Weights, upper: Weights, order: Sequence[int]) -> Weights:
    """Return the lower bounds with the mass they leave given to the weights in an order, to each as much as it can hold."""
    point = list(lower)
    spare = max(1 - sum(lower), 0.0)
    for i in order:
        take = min(spare, upper[i] - lower[i])
        point[i] += take
        spare -= take
    return tuple(point)


def distinct(points: Iterable[Weights]) -> list[Weights]:
    """Return the points that differ by more than rounding, in the order of their first occurrence."""
    found: dict[Weights, Weights] = {}
    for point in points:
        found.setdefault(tuple(round(weight, 11) + 0.0 for weight in point), tuple(point))
    return list(found.values())


def is_reachable(lower: Weights, upper: Weights, tolerance: float = 1e-12) -> bool:
    """Tell whether every end of an interval leaves room for the others to add up to one."""
    return all(
        lower[i] + sum(upper) - upper[i] >= 1 - tolerance and upper[i] + sum(lower) - lower[i] <= 1 + tolerance for i in range(len(lower))
    )


def tightened(lower: Weights, upper: Weights) -> tuple[Weights, Weights]:
    """Return the smallest and largest value of each weight over the extreme points."""
    points = extreme_points(lower, upper)
    return tuple(map(min, zip(*points, strict=True))), tuple(map(max, zip(*points, strict=True)))


def contains(credal_set: LocalSet, point: Weights, tolerance: float = 1e-9) -> bool:
    """Tell whether a vector lies in a set that is not given by vertices."""
    match credal_set:
        case Point(weights):
            lower = upper = weights
        case Box(lower, upper):
            pass
        case Contamination(weights, epsilon):
            lower = tuple((1 - epsilon) * weight for weight in weights)
            upper = tuple(1.0 for _ in weights)  # what lies above the lower bounds and adds to one is a contamination
        case Hull():
            raise TypeError("mixtures are not searched for here")
    inside = all(low - tolerance <= weight <= high + tolerance for low, weight, high in zip(lower, point, upper, strict=True))
    return inside and abs(sum(point) - 1) <= tolerance


def best_sum(credal_set: LocalSet, values: Sequence[float], maximum: bool) -> float:
    """Return the smallest or largest sum of `weight * value`, by trying every vertex."""
    sums = [sum(weight * value for weight, value in zip(point, values, strict=True) if weight > 0) for point in vertices(credal_set)]
    return max(sums) if maximum else min(sums)


def best_sum_of_intervals(lower: Sequence[float], upper: Sequence[float], values: Sequence[float], maximum: bool) -> float:
    """Return the best sum of `weight * value` by linear programming duality, for any number of weights.

    The largest sum is the smallest value over all t of `t + Σ max(l_i (v_i - t), u_i (v_i - t))`, which is convex and bends
    at the values only; the smallest sum follows by changing signs.
    """
    sign = 1.0 if maximum else -1.0
    worth = sign * np.asarray(values)
    apart = worth - np.unique(worth)[:, None]
    candidates = np.unique(worth) + np.maximum(np.asarray(lower) * apart, np.asarray(upper) * apart).sum(axis=1)
    return sign * float(candidates.min())
