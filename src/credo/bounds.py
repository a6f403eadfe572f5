"""The answer to a question: a lower and an upper bound, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from typing import Any

from credo.errors import BoundsError


@dataclass(frozen=True, slots=True)
class Bounds:
    """A closed interval that holds the answer of every compatible network.

    Parameters
    ----------
    lower, upper : float
        The interval. It is safe to rely on, whether or not it is exact.
    exact : bool
        True when both ends are attained, so that no narrower interval would do.
    inner : (float, float), optional
        Where the bounds are not exact: values inside them that compatible networks attain, the smaller one first, so that the
        exact interval lies between `inner` and the bounds.
    witness : optional
        Where the bounds are not exact: the compatible networks that attain `inner`.

    Examples
    --------
    >>> from credo import Bounds
    >>> answer = Bounds(0.435, 0.796)
    >>> answer
    [0.435, 0.796]
    >>> low, high = answer
    >>> round(answer.width, 3), 0.5 in answer
    (0.361, True)
    """

    lower: float
    upper: float
    exact: bool = True
    inner: tuple[float, float] | None = None
    witness: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not _in_order(self.lower, self.upper):
            raise BoundsError(f"bounds must be numbers, the lower one not above the upper one; got {self.lower} and {self.upper}")
        if self.inner is None:
            return
        if self.exact:
            raise BoundsError(f"exact bounds are attained themselves: leave out inner={self.inner!r}, or set exact=False")
        if not isinstance(self.inner, tuple) or len(self.inner) != 2 or not _in_order(self.lower, *self.inner, self.upper):
            raise BoundsError(f"inner must be a tuple of two numbers in order inside [{self.lower}, {self.upper}], got {self.inner!r}")

    @property
    def width(self) -> float:
        """How much is left open: `upper - lower`."""
        return self.upper - self.lower

    def __iter__(self) -> Iterator[float]:
        return iter((self.lower, self.upper))

    def __contains__(self, value: object) -> bool:
        try:
            return bool(self.lower <= value <= self.upper)  # type: ignore[operator]
        except TypeError:  # no number
            return False

    def __format__(self, spec: str) -> str:
        return f"[{_shown(self.lower, spec)}, {_shown(self.upper, spec)}]" + ("" if self.exact else " (outer)")

    def __repr__(self) -> str:
        return format(self, "")

    __str__ = __repr__


def _in_order(*values: Any) -> bool:
    """Tell whether all values are numbers, and none is greater than the next one; no number compares with NaN."""
    return all(isinstance(value, Real) for value in values) and all(low <= high for low, high in pairwise(values))


def _shown(value: float, spec: str) -> str:
    if spec:
        return format(value, spec)
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:.3g}"
