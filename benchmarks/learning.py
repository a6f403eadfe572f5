"""The table: Credo's LearnSPN beside another program and other libraries, with two threads, and as tables grow, as ratios.

The data are those in the folder that `CREDO_DATA` names. Run `python -m benchmarks.learning`; `--help` tells what can be chosen.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks import growth, peers
from benchmarks.lines import Line, at_least, at_most, report
from benchmarks.peers import Learned
from benchmarks.timing import ROUNDS, LowerBound, difference, ratio, take_turns
from credo import CredalSPN
from credo.table import datasets

NAMES = ("nltcs", "plants", "baudio", "bbc")
SETTINGS: dict[str, Any] = {"learner": "learn_spn", "cluster_penalty": 0.6, "g_factor": 10.0, "verbose": False}
WARM_UP_ROWS = 200
YARDSTICK_TARGETS = {"nltcs": 5.0, "plants": 5.0, "baudio": 10.0, "bbc": 10.0}
LOG_LIKELIHOOD_TARGET = 0.0
THREADS_TARGETS = {"baudio": 1.8, "bbc": 1.8}
GROWTH_ROWS, GROWTH_RESTARTS = (10_000, 100_000, 1_000_000), (5, 10, 20, 40)
GROWTH_TARGET, MEMORY_TARGET = 1.5, 4.0
LEAST_TABLE = 1 << 20  # bytes; beside a smaller table, memory that a process uses whatever it learns from counts for much


@dataclass(frozen=True)
class Settings:
    """What to measure, and for how long."""

    tables: tuple[str, ...]
    yardstick: Path | None
    rounds: int
    with_peers: bool
    peer_seconds: float
    growth_rows: tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """A table of the field in its three parts."""

    name: str
    train: NDArray[np.int8]
    valid: NDArray[np.int8]
    test: NDArray[np.int8]


class Timed(Protocol):
    """What came of one turn."""

    @property
    def seconds(self) -> float: ...


Outcome = TypeVar("Outcome", bound=Timed)


@dataclass(eq=False)
class Side(Generic[Outcome]):
    """What learns in turn with others, the number of the round being its random state, and what came of each turn."""

    learn: Callable[[int], Outcome]
    turns: list[Outcome] = field(default_factory=list)

    def __call__(self) -> float:
        self.turns.append(self.learn(len(self.turns)))
        return self.turns[-1].seconds


class YardstickError(RuntimeError):
    """What went wrong in the program to compare with."""


def lines(settings: Settings) -> Iterator[Line]:
    """Measure and give the lines one by one."""
    if not settings.tables:
        yield Line(("",), "learning", note="not measured: set CREDO_DATA to a folder with tables")
    for name in settings.tables:
        table = Table(name, *(datasets.read(name, part) for part in datasets.PARTS))
        yield Line((name,), "the table", note=f"{table.train.shape[0]} rows, {table.train.shape[1]} columns")
        for n_jobs in (1, 2):
            CredalSPN(**SETTINGS, random_state=0, n_jobs=n_jobs, smoothing=1.0).fit(table.train[:WARM_UP_ROWS])
        yield from yardstick_lines(table, settings)
        yield from threads_lines(table, settings)
        yield from peer_lines(table, settings)
    if settings.growth_rows:
        yield from rows_lines(settings)
        yield from restarts_lines(settings)


def yardstick_lines(table: Table, settings: Settings) -> Iterator[Line]:
    """Compare with the program that `--yardstick` names: speed, and the log-likelihood of the test rows."""
    what = "times the yardstick"
    if settings.yardstick is None:
        yield Line((table.name,), what, note="not measured: --yardstick not given")
        return
    ours, other = Side(partial(_learned, table)), Side(partial(_yardstick, settings.yardstick, table.name))
    try:
        measured = take_turns({"credo": ours, "yardstick": other}, settings.rounds)
    except YardstickError as error:
        yield Line((table.name,), what, note=f"not measured: {error}")
        return
    found = ratio(measured["yardstick"], measured["credo"])
    note = f"{_described(ours.turns)}; the yardstick: {_described(other.turns)}"
    yield Line((table.name,), what, found, *at_least(YARDSTICK_TARGETS.get(table.name), found), note)
    scores, others = ([one.log_likelihood for one in side.turns] for side in (ours, other))
    better = difference(scores, others)
    note = f"{better.median / abs(median(others)):+.3%}"
    yield Line((table.name,), "test log-likelihood, Credo's - the yardstick's", better, *at_least(LOG_LIKELIHOOD_TARGET, better), note)


def threads_lines(table: Table, settings: Settings) -> Iterator[Line]:
    """Compare two threads with one."""
    one, two = (Side(partial(_learned, table, n_jobs=n_jobs, smoothing=1.0)) for n_jobs in (1, 2))
    measured = take_turns({"one": one, "two": two}, settings.rounds)
    found = ratio(measured["one"], measured["two"])
    same = [turn.log_likelihood for turn in one.turns] == [turn.log_likelihood for turn in two.turns]
    note = "the same circuits" if same else "DIFFERENT circuits"
    yield Line((table.name,), "times as fast with n_jobs=2", found, *at_least(THREADS_TARGETS.get(table.name), found), note)


def peer_lines(table: Table, settings: Settings) -> Iterator[Line]:
    """Compare with what other libraries call LearnSPN: they cluster rows and separate columns in ways of their own."""
    for peer in peers.PEERS if settings.with_peers else ():
        if not peer.learns:
            continue
        what = f"times {peer.name}"
        ours = Side(partial(_learned, table))
        try:
            with TemporaryDirectory() as folder, peers.learning_peer(peer, Path(folder), table.train, table.test) as worker:
                other = Side(partial(worker.learn, settings.peer_seconds))
                measured = take_turns({"credo": ours, "peer": other}, settings.rounds, enough=settings.peer_seconds)
        except peers.PeerTooSlow as error:
            bound = LowerBound(settings.peer_seconds / median(one.seconds for one in ours.turns))
            yield Line((table.name,), what, bound, note=f"{error}")
        except peers.PeerError as error:
            yield Line((table.name,), what, note=f"not measured: {error}")
        else:
            rounds = f"{len(other.turns)} rounds; " if len(other.turns) < settings.rounds else ""
            note = f"{rounds}Credo: {_described(ours.turns)}; {peer.name}: {_described(other.turns)}"
            yield Line((table.name,), what, ratio(measured["peer"], measured["credo"]), note=note)


def rows_lines(settings: Settings) -> Iterator[Line]:
    """Tell how the seconds a row and the memory grow with the rows."""
    sides = {n_rows: Side(partial(growth.measured, n_rows, growth.RESTARTS)) for n_rows in settings.growth_rows}
    measured = take_turns({str(n_rows): side for n_rows, side in sides.items()}, settings.rounds)
    first = settings.growth_rows[0]
    for n_rows, side in sides.items():
        a_row = {rows: [seconds / rows for seconds in measured[str(rows)]] for rows in (first, n_rows)}
        found = ratio(a_row[n_rows], a_row[first])
        note = f"{_nodes(side.turns)} nodes, {median(a_row[n_rows]) * 1e6:.1f} microseconds a row"
        target = at_most(GROWTH_TARGET if n_rows > first else None, found)
        yield Line((growth.NAME,), f"seconds a row, {n_rows} rows / {first}", found, *target, note)
    for n_rows, side in sides.items():
        what, table = f"memory of fit, {n_rows} rows / their table", side.turns[0].table
        peaks = [turn.peak for turn in side.turns if turn.peak is not None]
        if not peaks:
            yield Line((growth.NAME,), what, note="not measured: this system does not tell peaks")
            continue
        found = ratio(peaks, [table] * len(peaks))
        note = f"{median(peaks) / 2**20:.1f} MB, of which the table is {table / 2**20:.1f}"
        yield Line((growth.NAME,), what, found, *at_most(MEMORY_TARGET if table >= LEAST_TABLE else None, found), note)


def restarts_lines(settings: Settings) -> Iterator[Line]:
    """Tell how the seconds a restart grow with the restarts."""
    n_rows, first = settings.growth_rows[0], GROWTH_RESTARTS[0]
    sides = {restarts: Side(partial(growth.measured, n_rows, restarts)) for restarts in GROWTH_RESTARTS}
    measured = take_turns({str(restarts): side for restarts, side in sides.items()}, settings.rounds)
    for restarts, side in sides.items():
        each = {number: [seconds / number for seconds in measured[str(number)]] for number in (first, restarts)}
        found = ratio(each[restarts], each[first])
        target = at_most(GROWTH_TARGET if restarts > first else None, found)
        yield Line(
            (growth.NAME,),
            f"seconds a restart, {restarts} restarts / {first}",
            found,
            *target,
            f"{_nodes(side.turns)} nodes, {n_rows} rows",
        )


def _learned(table: Table, seed: int, n_jobs: int = 1, smoothing: float | Literal["validate"] = "validate") -> Learned:
    model = CredalSPN(**SETTINGS, random_state=seed, n_jobs=n_jobs, smoothing=smoothing).fit(table.train, validation=table.valid)
    return Learned(model.learning_seconds_, model.n_nodes_, model.score(table.test), f"smoothing {model.smoothing_:g}")


def _yardstick(program: Path, name: str, _: int) -> Learned:
    folder = datasets.folder()
    assert folder is not None
    done = subprocess.run([sys.executable, str(program), str(folder / name / name), "1"], capture_output=True, text=True)
    found = re.search(r"seconds (\S+) nodes (\d+) smoothing (\S+) test (\S+)", done.stdout)
    if done.returncode or not found:
        raise YardstickError((done.stderr.strip().splitlines() or ["it does not tell seconds, nodes, smoothing and test"])[-1])
    return Learned(float(found[1]), int(found[2]), float(found[4]), f"smoothing {float(found[3]):g}")


def _described(turns: Sequence[Learned]) -> str:
    score = median(one.log_likelihood for one in turns)
    return f"{_nodes(turns)} nodes, test {score:.4f}, {' or '.join(dict.fromkeys(one.how for one in turns))}"


def _nodes(turns: Sequence[Learned | growth.Growth]) -> int:
    return round(median(one.nodes for one in turns))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table and write it where asked to."""
    here = datasets.available()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.add_argument("--tables", nargs="+", metavar="NAME", default=[name for name in NAMES if name in here])
    parser.add_argument("--yardstick", type=Path, metavar="FILE", help="called as: python FILE FOLDER/NAME 1; prints what it measured")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns that each side takes; at least five to be quoted")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--peer-seconds", type=float, default=120.0, help="a peer is stopped then, and begins no other round")
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("--growth-rows", type=int, nargs="+", default=GROWTH_ROWS, metavar="ROWS")
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.tables if name not in here]:
        parser.error(f"not in the folder that CREDO_DATA names: {', '.join(unknown)}; there are: {', '.join(here) or 'none'}")
    settings = Settings(
        tuple(chosen.tables),
        chosen.yardstick,
        chosen.rounds,
        not chosen.no_peers,
        chosen.peer_seconds,
        () if chosen.no_growth else tuple(chosen.growth_rows),
    )
    report(("table",), lines(settings), chosen.json)


if __name__ == "__main__":
    main()
