"""ε-contamination: a weight vector of which a share may be anything."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from credo.credal_sets.intervals import Intervals
from credo.credal_sets.vertices import Vertices
from credo.credal_sets.weights import Weights, counted, distribution, shown
from credo.errors import CredalSetError


@dataclass(frozen=True, init=False, eq=False, slots=True)
class Contaminated:
    """The vectors `(1 - epsilon) * weights + epsilon * q` for every weight vector `q`.

    The set is exactly a set of reachable probability intervals.

    Examples
    --------
    >>> from credo import Contaminated
    >>> Contaminated([0.75, 0.25], 0.5).lowered()
    Intervals([0.375, 0.125], [0.875, 0.625])
    """

    weights: Weights
    epsilon: float

    def __init__(self, weights: ArrayLike, epsilon: float) -> None:
        object.__setattr__(self, "weights", distribution(weights, "the weights"))
        if isinstance(epsilon, bool) or not isinstance(epsilon, Real) or not 0 <= float(epsilon) <= 1:
            raise CredalSetError(f"epsilon must be a number in [0, 1], got {epsilon!r}")
        object.__setattr__(self, "epsilon", float(epsilon))

    @classmethod
    def from_counts(cls, known: ArrayLike, missing: float = 0, smoothing: float = 0) -> Self:
        """Return the known proportions, contaminated by the share of missing values.

        Examples
        --------
        >>> from credo import Contaminated
        >>> Contaminated.from_counts([1, 2], missing=1).lowered()
        Intervals([0.25, 0.5], [0.5, 0.75])
        """
        counts, total = counted(known, missing, smoothing)
        if counts.sum() == 0:
            return cls(np.full(len(counts), 1 / len(counts)), 1.0)
        return cls(counts / counts.sum(), missing / total)

    @property
    def centre(self) -> Weights:
        """The weights before contamination."""
        return self.weights

    @property
    def is_reachable(self) -> bool:
        """Whether every bound is attained by some point of the set: always."""
        return True

    @property
    def vertex_mean(self) -> Weights:
        """The mean of the extreme points."""
        mean: Weights = (1 - self.epsilon) * self.weights + self.epsilon / len(self)
        return mean

    def tightened(self) -> Contaminated:
        """Return the set itself."""
        return self

    def limited_extreme_points(self) -> Weights:
        """Return the extreme points, of which there is one for each weight."""
        return self.extreme_points()

    def lowered(self) -> Intervals:
        """Return the same set as intervals."""
        lower = (1 - self.epsilon) * self.weights if len(self.weights) > 1 else self.weights
        return Intervals(lower, np.minimum(lower + self.epsilon, 1), self.weights)

    def hull(self) -> Intervals:
        """Return the same set as intervals."""
        return self.lowered()

    def to_vertices(self) -> Vertices:
        """Return the same set as its extreme points."""
        return Vertices(self.extreme_points(), self.weights)

    def extreme_points(self) -> Weights:
        """Return the extreme points, one a row: the free share given whole to each weight in turn."""
        if self.epsilon == 0:
            return self.weights[None].copy()
        points: Weights = (1 - self.epsilon) * self.weights + self.epsilon * np.eye(len(self.weights))
        return points

    def best_point(self, values: ArrayLike, maximum: bool = False) -> Weights:
        """Return the point with the smallest (or largest) sum of `weight * value`."""
        return self.lowered().best_point(values, maximum)

    def contains(self, point: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Tell whether `point` lies in the set, up to `tolerance` in each weight."""
        return self.lowered().contains(point, tolerance)

    def __reduce__(self) -> tuple[type[Contaminated], tuple[Weights, float]]:
        return Contaminated, (self.weights, self.epsilon)

    def __len__(self) -> int:
        return len(self.weights)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contaminated) and np.array_equal(self.weights, other.weights) and self.epsilon == other.epsilon

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Contaminated({shown(self.weights)}, {self.epsilon:.12g})"
