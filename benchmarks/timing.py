"""Paired timing: the sides take turns, so that what slows the machine slows all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from time import perf_counter
from typing import Self

ROUNDS = 5


@dataclass(frozen=True)
class Spread:
    """The median of what the rounds gave, with the smallest and the largest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        return cls(median(values), min(values), max(values))


class Ratio(Spread):
    """Of ratios, one a round."""

    def __str__(self) -> str:
        return f"{_shown(self.median)} [{_shown(self.low)} .. {_shown(self.high)}]"


class Difference(Spread):
    """Of differences, one a round."""

    def __str__(self) -> str:
        return f"{self.median:+.4f} [{self.low:+.4f} .. {self.high:+.4f}]"


class Score(Spread):
    """Of log-likelihoods, one a round."""

    def __str__(self) -> str:
        return f"{self.median:.4f} [{self.low:.4f} .. {self.high:.4f}]"


@dataclass(frozen=True)
class LowerBound:
    """What a ratio is at least, as one side was stopped before it was done."""

    more_than: float

    def __str__(self) -> str:
        return f"> {_shown(self.more_than)}"


def seconds(call: Callable[[], object], at_least: float = 0.0) -> float:
    """Return the seconds that one call takes, from as many calls as fill `at_least` seconds."""
    calls = 0
    start = perf_counter()
    while True:
        call()
        calls += 1
        passed = perf_counter() - start
        if passed >= at_least:
            return passed / calls


def take_turns(sides: Mapping[str, Callable[[], float]], rounds: int = ROUNDS, enough: float = inf) -> dict[str, list[float]]:
    """Return what each side measured in each round; the order is turned round from one round to the next.

    No round begins after `enough` seconds.
    """
    measured: dict[str, list[float]] = {name: [] for name in sides}
    start = perf_counter()
    for round_number in range(rounds):
        if perf_counter() - start > enough:
            break
        for name in list(sides) if round_number % 2 == 0 else reversed(list(sides)):
            measured[name].append(sides[name]())
    return measured


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> Ratio:
    """Return the ratio of two sides that took turns."""
    return Ratio.of([above / below for above, below in zip(numerator, denominator, strict=True)])


def difference(minuend: Sequence[float], subtrahend: Sequence[float]) -> Difference:
    """Return the difference of two sides that took turns."""
    return Difference.of([first - second for first, second in zip(minuend, subtrahend, strict=True)])


def _shown(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
