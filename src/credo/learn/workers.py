"""What shares pieces of work among threads: kernels hold no lock, so threads learn at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Workers:
    """So many threads, and what calls a function with each of some things on them, as the built-in `map` does on one."""

    n: int
    map: Callable[..., Iterable[Any]]


ALONE = Workers(1, map)
