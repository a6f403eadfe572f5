"""Paired timing: the sides take turns, so that what slows the machine slows all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter

ROUNDS = 5


@dataclass(frozen=True)
class Ratio:
    """The median of ratios, one a round, with the smallest and the largest."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_shown(self.median)} [{_shown(self.low)} .. {_shown(self.high)}]"


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


def take_turns(sides: Mapping[str, Callable[[], float]], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Return what each side measured in each round; the order is turned round from one round to the next."""
    measured: dict[str, list[float]] = {name: [] for name in sides}
    for round_number in range(rounds):
        for name in list(sides) if round_number % 2 == 0 else reversed(list(sides)):
            measured[name].append(sides[name]())
    return measured


def ratio(numerator: list[float], denominator: list[float]) -> Ratio:
    """Return the ratio of two sides that took turns."""
    ratios = [above / below for above, below in zip(numerator, denominator, strict=True)]
    return Ratio(median(ratios), min(ratios), max(ratios))


def _shown(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
