"""Probability intervals: each weight between a lower and an upper bound, all weights adding to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.credal_sets.vertices import Vertices, distinct_rows
from credo.credal_sets.weights import Weights, counted, frozen, numbers, shown, worths
from credo.errors import CredalSetError
from credo.rounding import ROUNDING, SUM_TOLERANCE

MOST_CHILDREN_TO_ENUMERATE = 12  # 12 * 2**11 candidates; the number of extreme points may reach n!


@dataclass(frozen=True, init=False, eq=False, slots=True)
class Intervals:
    """The weight vectors `w` with `lower <= w <= upper` and `sum(w) == 1`.

    Parameters
    ----------
    lower, upper : array-like of float
        The ends of the intervals. The set must not be empty: `sum(lower) <= 1 <= sum(upper)`.
    centre : array-like of float, optional
        The point that stands for the set; the mean of the limited extreme points unless given. Sets that differ in it alone are
        equal.

    Examples
    --------
    >>> from credo import Intervals
    >>> weights = Intervals([0.2, 0.3, 0.2], [0.4, 0.55, 0.48])
    >>> weights.is_reachable
    True
    >>> weights.limited_extreme_points().round(2).tolist()
    [[0.4, 0.4, 0.2], [0.2, 0.55, 0.25], [0.22, 0.3, 0.48]]
    >>> weights.best_point([1, 0, 0], maximum=True).round(2).tolist()
    [0.4, 0.4, 0.2]
    """

    lower: Weights
    upper: Weights
    centre: Weights

    def __init__(self, lower: ArrayLike, upper: ArrayLike, centre: ArrayLike | None = None) -> None:
        object.__setattr__(self, "lower", numbers(lower, "lower bounds"))
        object.__setattr__(self, "upper", numbers(upper, "upper bounds"))
        if len(self.lower) != len(self.upper):
            raise CredalSetError(f"there are {len(self.lower)} lower bounds but {len(self.upper)} upper ones")
        for at in np.flatnonzero((self.lower < 0) | (self.upper > 1) | (self.lower > self.upper)):
            raise CredalSetError(
                f"interval {at} is [{self.lower[at]:.12g}, {self.upper[at]:.12g}]; it must satisfy 0 <= lower <= upper <= 1"
            )
        if self.lower.sum() > 1 + SUM_TOLERANCE or self.upper.sum() < 1 - SUM_TOLERANCE:
            raise CredalSetError(
                f"no weights fit the intervals {self._shown()}: the lower bounds add to {self.lower.sum():.12g} and the upper "
                f"ones to {self.upper.sum():.12g}, but 1 must lie between"
            )
        if self.lower.sum() > 1 + ROUNDING:
            object.__setattr__(self, "lower", frozen(self.lower / self.lower.sum()))
            object.__setattr__(self, "upper", frozen(np.maximum(self.lower, self.upper)))
        if self.upper.sum() < 1 - ROUNDING:
            object.__setattr__(self, "upper", frozen(np.minimum(self.upper / self.upper.sum(), 1)))
        if centre is None:
            point = frozen(self.vertex_mean)
        else:
            point = numbers(centre, "centre")
            if not self.contains(point):
                raise CredalSetError(f"the centre {shown(point)} is not a point of the intervals {self._shown()}")
        object.__setattr__(self, "centre", point)

    @classmethod
    def from_counts(cls, known: ArrayLike, missing: float = 0, smoothing: float = 0) -> Self:
        """Return the intervals that `missing` values, each of which may be any, leave open.

        Examples
        --------
        >>> from credo import Intervals
        >>> Intervals.from_counts([1, 2], missing=1)
        Intervals([0.25, 0.5], [0.5, 0.75])
        """
        counts, total = counted(known, missing, smoothing)
        if total == 0:
            return cls(np.zeros(len(counts)), np.ones(len(counts)))
        centre = counts / counts.sum() if counts.sum() > 0 else None
        found = cls(counts / total, np.minimum((counts + missing) / total, 1), centre)
        return found if len(counts) > 1 else cls([1.0], [1.0])

    @property
    def is_reachable(self) -> bool:
        """Whether every bound is attained by some point of the set."""
        low, high = self._reach()
        return bool((low <= self.lower + ROUNDING).all() and (high >= self.upper - ROUNDING).all())

    def tightened(self) -> Intervals:
        """Return the same set with every bound moved to where it is attained; no point is lost.

        Examples
        --------
        >>> from credo import Intervals
        >>> Intervals([0.125, 0.5], [0.5, 0.5]).tightened()
        Intervals([0.5, 0.5], [0.5, 0.5])
        """
        low, high = self._reach()
        lower = np.where(low > self.lower + ROUNDING, low, self.lower)
        upper = np.where(high < self.upper - ROUNDING, high, self.upper)
        # Ends that meet up to rounding are one point: the end that was not moved, if there is one.
        meet = ((lower > self.lower) | (upper < self.upper)) & (np.abs(upper - lower) <= ROUNDING)
        point = np.where(upper < self.upper, np.minimum(lower, self.upper), upper)
        return Intervals(np.where(meet, point, lower), np.where(meet, point, upper), self.centre)

    def extreme_points(self) -> Weights:
        """Return all extreme points, one a row, in lexicographic order; at most 12 weights."""
        n = len(self.lower)
        if n > MOST_CHILDREN_TO_ENUMERATE:
            raise CredalSetError(
                f"all extreme points of {n} intervals are too many to list (the limit is {MOST_CHILDREN_TO_ENUMERATE}); "
                "limited_extreme_points() lists at most one for each interval"
            )
        # At an extreme point at most one weight is strictly inside its interval: choose it, and an end for each other one.
        ends = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1)) & 1
        found = []
        for inside in range(n):
            others = np.delete(np.arange(n), inside)
            points = np.empty((len(ends), n))
            points[:, others] = np.where(ends == 0, self.lower[others], self.upper[others])
            points[:, inside] = 1 - points[:, others].sum(axis=1)
            fits = (points[:, inside] >= self.lower[inside] - ROUNDING) & (points[:, inside] <= self.upper[inside] + ROUNDING)
            found.append(points[fits].clip(self.lower, self.upper))
        return distinct_rows(np.concatenate(found), ordered=True)

    @property
    def vertex_mean(self) -> Weights:
        """The mean of the limited extreme points.

        These are arcs on a circle: the rooms of the weights, `upper - lower`, lie one behind the other, and each point fills an arc
        as long as the mass to distribute, from where a room begins. So no point needs to be written down.
        """
        room, spare = self.upper - self.lower, 1 - self.lower.sum()
        ends = np.concatenate([[0.0], np.cumsum(room)])
        starts = ends[self._starts()]
        if not len(starts):
            return self.best_point(room)
        before = np.concatenate([[0.0], np.cumsum(starts)])

        def filled(position: Weights) -> Weights:
            """Return how much of all arcs lies before each position."""
            begun, over = np.searchsorted(starts, position), np.searchsorted(starts, position - spare)
            return over * spare + (begun - over) * position - (before[begun] - before[over])

        shares = np.diff(filled(ends) + filled(ends + ends[-1])) / len(starts)
        mean: Weights = np.clip(self.lower + shares, self.lower, self.upper)
        return mean

    @property
    def n_limited_extreme_points(self) -> int:
        """How many limited extreme points there are."""
        return max(len(self._starts()), 1)

    def limited_extreme_points(self) -> Weights:
        """Return at most one extreme point for each interval: fill it first, then the following ones cyclically.

        The published pseudo-code shares its list of filled weights between calls and so depends on the order of the calls;
        this is the extraction that its figure shows.
        """
        room, spare = self.upper - self.lower, 1 - self.lower.sum()
        starts = self._starts()
        if not len(starts):
            return self.best_point(room)[None]
        n = len(room)
        order = (starts[:, None] + np.arange(n)) % n
        before = np.concatenate([np.zeros((len(starts), 1)), np.cumsum(room[order], axis=1)[:, :-1]], axis=1)
        points: Weights = np.empty((len(starts), n))
        np.put_along_axis(points, order, self.lower[order] + np.clip(spare - before, 0, room[order]), axis=1)
        return points

    def _starts(self) -> NDArray[np.int64]:
        """Return the weights whose filling first gives a point of its own; none where the set is one point."""
        room, spare = self.upper - self.lower, 1 - self.lower.sum()
        several = ROUNDING < spare < room.sum() - ROUNDING
        return np.flatnonzero(room > ROUNDING) if several else np.empty(0, np.int64)

    def best_point(self, values: ArrayLike, maximum: bool = False) -> Weights:
        """Return the point with the smallest (or largest) sum of `weight * value`."""
        worth = worths(values, len(self))
        order = np.argsort(-worth if maximum else worth, kind="stable")
        room = (self.upper - self.lower)[order]
        before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
        point: Weights = self.lower.copy()
        point[order] += np.clip(1 - self.lower.sum() - before, 0, room)
        return point

    def contains(self, point: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Tell whether `point` lies in the set, up to `tolerance` in each weight and in the sum."""
        weights = np.asarray(point, dtype=np.float64)
        return bool(
            weights.shape == self.lower.shape
            and (weights >= self.lower - tolerance).all()
            and (weights <= self.upper + tolerance).all()
            and abs(weights.sum() - 1) <= max(tolerance, SUM_TOLERANCE)
        )

    def lowered(self) -> Intervals:
        """Return the set itself."""
        return self

    def hull(self) -> Intervals:
        """Return the set itself: intervals are their own interval hull."""
        return self

    def to_vertices(self) -> Vertices:
        """Return the same set as its extreme points; at most 12 weights."""
        return Vertices(self.extreme_points(), self.centre)

    def _reach(self) -> tuple[Weights, Weights]:
        return 1 - (self.upper.sum() - self.upper), 1 - (self.lower.sum() - self.lower)

    def _shown(self) -> str:
        pairs = [f"[{low:.12g}, {high:.12g}]" for low, high in zip(self.lower, self.upper, strict=True)]
        return " ".join(pairs if len(pairs) <= 12 else [*pairs[:10], f"... {len(pairs)} in all"])

    def __reduce__(self) -> tuple[type[Intervals], tuple[Weights, ...]]:
        return Intervals, (self.lower, self.upper, self.centre)

    def __len__(self) -> int:
        return len(self.lower)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intervals) and np.array_equal(self.lower, other.lower) and np.array_equal(self.upper, other.upper)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Intervals({shown(self.lower)}, {shown(self.upper)})"
