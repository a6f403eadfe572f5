"""The answer to a question: a lower and an upper bound, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


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
        Where the bounds are not exact: values that compatible networks attain, so that the exact interval lies between
        `inner` and the bounds.
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
        if not self.lower <= self.upper:
            raise ValueError(f"a lower bound must not exceed the upper one, got {self.lower} and {self.upper}")

    @property
    def width(self) -> float:
        """How much is left open: `upper - lower`."""
        return self.upper - self.lower

    def __iter__(self) -> Iterator[float]:
        return iter((self.lower, self.upper))

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __format__(self, spec: str) -> str:
        return f"[{_shown(self.lower, spec)}, {_shown(self.upper, spec)}]" + ("" if self.exact else " (outer)")

    def __repr__(self) -> str:
        return format(self, "")

    __str__ = __repr__


def _shown(value: float, spec: str) -> str:
    if spec:
        return format(value, spec)
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:.3g}"
