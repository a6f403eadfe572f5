"""Credal sets: closed convex sets of weight vectors, for sum nodes and for categorical leaves.

To add a kind, write a frozen dataclass with the four members of `CredalSet`. Everything else (bounds, extreme points, the
best point, storage) works on what `lowered` returns: `Intervals` or `Vertices`, the two forms the kernels know.
"""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

from numpy.typing import ArrayLike

from credo.credal_sets.contamination import Contaminated
from credo.credal_sets.intervals import Intervals
from credo.credal_sets.precise import Precise
from credo.credal_sets.vertices import Vertices
from credo.credal_sets.weights import Weights

__all__ = ["Contaminated", "CredalSet", "Intervals", "Precise", "Vertices"]


@runtime_checkable
class CredalSet(Protocol):
    """What a kind of credal set must offer."""

    @classmethod
    def from_counts(cls, known: ArrayLike, missing: float = 0, smoothing: float = 0) -> Self:
        """Return the set that counts of known values and a number of missing ones leave open."""

    def lowered(self) -> Intervals | Vertices:
        """Return the same set as intervals or as vertices."""

    @property
    def centre(self) -> Weights:
        """A point inside the set that stands for it where one point is wanted."""

    def contains(self, point: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Tell whether `point` lies in the set."""
