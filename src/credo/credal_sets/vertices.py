"""The convex hull of given weight vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from credo.credal_sets.weights import Weights, counted, distribution, frozen, numbers, shown, worths
from credo.errors import CredalSetError
from credo.rounding import ROUNDING

if TYPE_CHECKING:
    from credo.credal_sets.intervals import Intervals

SOLVER_TOLERANCE = 1e-9  # how far the linear program may be from the truth


def distinct_rows(points: Weights, ordered: bool) -> Weights:
    """Return the rows that differ by more than rounding, sorted if `ordered`, else in the order of their first occurrence."""
    _, first = np.unique(points.round(12), axis=0, return_index=True)
    rows: Weights = points[first if ordered else np.sort(first)]
    return rows


@dataclass(frozen=True, init=False, eq=False, slots=True)
class Vertices:
    """The convex hull of weight vectors, each a list of numbers that are not negative and add to one.

    Parameters
    ----------
    points : array-like of float, (vertices, weights)
        The vectors. Vectors inside the hull of the others are allowed and change nothing.
    centre : array-like of float, optional
        The point that stands for the set; the mean of the vectors unless given.

    Examples
    --------
    >>> from credo import Vertices
    >>> weights = Vertices([(0.3, 0.7), (0.4, 0.6)])
    >>> weights.hull()
    Intervals([0.3, 0.6], [0.4, 0.7])
    >>> weights.contains([0.35, 0.65]), weights.contains([0.5, 0.5])
    (True, False)
    """

    points: Weights
    centre: Weights

    def __init__(self, points: ArrayLike, centre: ArrayLike | None = None) -> None:
        rows = numbers(points, "vertices", ndim=2)
        rows = np.stack([distribution(row, f"the weights of vertex {at},") for at, row in enumerate(rows)])
        object.__setattr__(self, "points", frozen(rows))
        if centre is None:
            point = frozen(rows.mean(axis=0))
        else:
            point = distribution(centre, "centre")
            if not self.contains(point):
                raise CredalSetError(f"the centre {shown(point)} is not a point of the hull of {len(rows)} vertices")
        object.__setattr__(self, "centre", point)

    @classmethod
    def from_counts(cls, known: ArrayLike, missing: float = 0, smoothing: float = 0) -> Self:
        """Return the hull of the proportions found by giving all missing values to one and the same value.

        Examples
        --------
        >>> from credo import Vertices
        >>> Vertices.from_counts([1, 2], missing=1)
        Vertices([[0.5, 0.5], [0.25, 0.75]])
        """
        counts, total = counted(known, missing, smoothing)
        if total == 0:
            return cls(np.eye(len(counts)))
        if missing == 0:
            return cls([counts / total])
        points = (counts + missing * np.eye(len(counts))) / total
        return cls(points, counts / counts.sum() if counts.sum() > 0 else None)

    def extreme_points(self) -> Weights:
        """Return the given vectors that are not in the hull of the others, in their order."""
        rows = distinct_rows(self.points, ordered=False)
        kept = list(range(len(rows)))
        for at in range(len(rows)):
            others = [other for other in kept if other != at]
            if others and _in_hull(rows[others], rows[at], ROUNDING):
                kept = others
        extreme: Weights = rows[kept]
        return extreme

    def best_point(self, values: ArrayLike, maximum: bool = False) -> Weights:
        """Return the vector with the smallest (or largest) sum of `weight * value`."""
        worth = self.points @ worths(values, len(self))
        best: Weights = self.points[worth.argmax() if maximum else worth.argmin()].copy()
        return best

    def contains(self, point: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Tell whether `point` is a mixture of the vectors, up to `tolerance` in each weight."""
        weights = np.asarray(point, dtype=np.float64)
        return weights.shape == self.points.shape[1:] and _in_hull(self.points, weights, tolerance + SOLVER_TOLERANCE)

    @property
    def is_reachable(self) -> bool:
        """Whether every bound is attained by some point of the set: always."""
        return True

    @property
    def vertex_mean(self) -> Weights:
        """The mean of the vectors."""
        return frozen(self.points.mean(axis=0))

    def tightened(self) -> Vertices:
        """Return the set itself."""
        return self

    def limited_extreme_points(self) -> Weights:
        """Return the given vectors that are not in the hull of the others."""
        return self.extreme_points()

    def to_vertices(self) -> Vertices:
        """Return the set itself."""
        return self

    def lowered(self) -> Vertices:
        """Return the set itself."""
        return self

    def hull(self) -> Intervals:
        """Return the smallest intervals that hold the set; they hold more points where there are more than two weights."""
        from credo.credal_sets.intervals import Intervals

        return Intervals(self.points.min(axis=0).clip(0, 1), self.points.max(axis=0).clip(0, 1), self.centre)

    def __reduce__(self) -> tuple[type[Vertices], tuple[Weights, ...]]:
        return Vertices, (self.points, self.centre)

    def __len__(self) -> int:
        return int(self.points.shape[1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vertices) and np.array_equal(self.points, other.points)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Vertices([{', '.join(shown(row) for row in self.points)}])"


def _in_hull(points: Weights, point: Weights, tolerance: float) -> bool:
    if (np.abs(points - point).max(axis=1) <= tolerance).any():
        return True
    if len(points) == 1 or not np.isfinite(point).all():
        return False
    if len(points) == 2:  # a segment: project onto it
        start, along = points[0], points[1] - points[0]
        share = np.clip((point - start) @ along / max(along @ along, 1e-300), 0, 1)
        return bool(np.abs(start + share * along - point).max() <= tolerance)
    from scipy.optimize import linprog  # takes a while to import, and few need it

    # The mixture that comes closest in the largest deviation: minimise d with -d <= mixture - point <= d.
    n = len(points)
    deviation = np.vstack([np.c_[points.T, -np.ones(len(point))], np.c_[-points.T, -np.ones(len(point))]])
    answer = linprog(
        np.r_[np.zeros(n), 1.0],
        A_ub=deviation,
        b_ub=np.r_[point, -point],
        A_eq=np.r_[np.ones(n), 0.0][None],
        b_eq=[1.0],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return bool(answer.status == 0 and answer.x[-1] <= tolerance)
