"""A credal set of one point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from credo.credal_sets.intervals import Intervals
from credo.credal_sets.vertices import Vertices
from credo.credal_sets.weights import Weights, counted, distribution, shown, worths
from credo.errors import CredalSetError


@dataclass(frozen=True, init=False, eq=False, slots=True)
class Precise:
    """One weight vector: numbers that are not negative and add to one.

    Examples
    --------
    >>> from credo import Precise
    >>> Precise([0.7, 0.3])
    Precise([0.7, 0.3])
    """

    weights: Weights

    def __init__(self, weights: ArrayLike) -> None:
        object.__setattr__(self, "weights", distribution(weights, "the weights"))

    @classmethod
    def from_counts(cls, known: ArrayLike, missing: float = 0, smoothing: float = 0) -> Self:
        """Return the proportions; there is no such set when values are missing.

        Examples
        --------
        >>> from credo import Precise
        >>> Precise.from_counts([1, 2, 1])
        Precise([0.25, 0.5, 0.25])
        """
        counts, total = counted(known, missing, smoothing)
        if missing > 0:
            raise CredalSetError(f"{missing:g} missing values leave more than one point open; use Intervals.from_counts")
        if total == 0:
            raise CredalSetError("no counts at all leave every point open; use Intervals.from_counts or smoothing")
        return cls(counts / total)

    @property
    def centre(self) -> Weights:
        """The point itself."""
        return self.weights

    @property
    def is_reachable(self) -> bool:
        """Whether every bound is attained by some point of the set: always."""
        return True

    @property
    def vertex_mean(self) -> Weights:
        """The point itself."""
        return self.weights

    def tightened(self) -> Precise:
        """Return the set itself."""
        return self

    def limited_extreme_points(self) -> Weights:
        """Return the point as the only row."""
        return self.extreme_points()

    def to_vertices(self) -> Vertices:
        """Return the point as the only vertex."""
        return Vertices(self.extreme_points(), self.weights)

    def lowered(self) -> Intervals:
        """Return the point as intervals of width zero."""
        return Intervals(self.weights, self.weights, self.weights)

    def hull(self) -> Intervals:
        """Return the point as intervals of width zero."""
        return self.lowered()

    def extreme_points(self) -> Weights:
        """Return the point as the only row."""
        return self.weights[None].copy()

    def best_point(self, values: ArrayLike, maximum: bool = False) -> Weights:
        """Return the point, whatever the values."""
        worths(values, len(self))
        return self.weights.copy()

    def contains(self, point: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Tell whether `point` is the point, up to `tolerance` in each weight."""
        weights = np.asarray(point, dtype=np.float64)
        return bool(weights.shape == self.weights.shape and (np.abs(weights - self.weights) <= tolerance).all())

    def __reduce__(self) -> tuple[type[Precise], tuple[Weights]]:
        return Precise, (self.weights,)

    def __len__(self) -> int:
        return len(self.weights)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Precise) and np.array_equal(self.weights, other.weights)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Precise({shown(self.weights)})"
