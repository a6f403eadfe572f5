"""The table: Credo's likelihood and bounds beside numpy and other libraries, as ratios measured side by side on one core.

Run `python -m benchmarks.likelihood`; `--help` tells what can be chosen.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks import circuits, memory, peers
from benchmarks.lines import Line, at_least, at_most, report
from benchmarks.plain_numpy import BLOCK_ROWS, PlainNumpy
from benchmarks.timing import ROUNDS, ratio, seconds, take_turns
from credo.model.circuit import Circuit

N_ROWS = 100_000
EVIDENCE = {"complete": 0.0, "30% missing": 0.3}
NUMPY_TARGET, PEER_TARGET, BOUNDS_TARGET, ONE_ROW_TARGET = 10.0, 30.0, 3.0, 50.0
MEMORY_ROWS = (100_000, 1_000_000)

Codes = NDArray[np.int8]


@dataclass(frozen=True)
class Settings:
    """What to measure, and for how long."""

    n_rows: int
    rounds: int
    peer_seconds: float
    with_peers: bool


def table(trees: Sequence[circuits.Tree], settings: Settings) -> Iterator[Line]:
    """Measure and give the lines one by one."""
    for tree in trees:
        circuit = tree.build()
        share = circuits.share_of_sum_edges(circuit.arrays)
        note = f"{circuit.n_edges} edges, {share:.1%} of them below sums; {tree.n_columns} columns; depth {circuit.depth}"
        yield Line((tree.name, ""), "the circuit", note=note)
        rows = {evidence: circuits.rows(circuit.schema.sizes, settings.n_rows, missing) for evidence, missing in EVIDENCE.items()}
        yield from precise_lines(tree.name, circuit, rows, settings)
        yield from bounds_lines(tree.name, circuit, rows, settings)
        yield from one_row_lines(tree.name, circuit, rows["complete"], settings)
        yield from memory_lines(tree.name)


def precise_lines(tree: str, circuit: Circuit, rows: dict[str, Codes], settings: Settings) -> Iterator[Line]:
    """Compare log-likelihoods of the precise circuit with numpy and with the peers: times a row, all sides taking turns."""
    plain = PlainNumpy(circuit.arrays)
    expected = {evidence: circuit.log_likelihood(codes[: peers.CHECKED_ROWS]) for evidence, codes in rows.items()}
    _choose_block(plain, next(iter(rows.values())))
    with ExitStack() as stack, TemporaryDirectory() as name:
        folder = Path(name)
        contenders: list[peers.Contender] = []
        for peer in peers.PEERS if settings.with_peers else ():
            try:
                contenders.append(stack.enter_context(_contender(peer, folder, circuit, rows, expected)))
            except peers.PeerError as error:
                yield Line((tree, ""), f"times {peer.name}", note=f"not measured: {error}")
        for evidence, codes in rows.items():
            sides: dict[str, Callable[[], float]] = {
                "credo": partial(_seconds_a_row, circuit.log_likelihood, codes),
                "numpy": partial(_plain_seconds_a_row, plain, codes, settings.peer_seconds),
            }
            for one in contenders:
                one.build(evidence)
                sides[one.peer.name] = partial(one.seconds_a_row, evidence, settings.n_rows, settings.peer_seconds)
            measured = take_turns(sides, settings.rounds)
            ratios = {side: ratio(measured[side], measured["credo"]) for side in sides}
            note = f"precise log-likelihood; {np.median(measured['credo']) * 1e9 / circuit.n_edges:.2f} ns a row and edge"
            yield Line((tree, evidence), "times plain numpy", ratios["numpy"], *at_least(NUMPY_TARGET, ratios["numpy"]), note)
            quickest = min(contenders, key=lambda one: ratios[one.peer.name].median, default=None)
            for one in contenders:
                found = ratios[one.peer.name]
                target = at_least(PEER_TARGET if one is quickest else None, found)
                yield Line((tree, evidence), f"times {one.peer.name}", found, *target, _described(one, evidence, settings))


def bounds_lines(tree: str, circuit: Circuit, rows: dict[str, Codes], settings: Settings) -> Iterator[Line]:
    """Compare both bounds of credal versions with the precise pass over the same rows."""
    for kind, credal_set in circuits.CREDAL_SETS.items():
        credal = circuits.credal(circuit, credal_set)
        credal.log_bounds(next(iter(rows.values()))[:10])
        for evidence, codes in rows.items():
            n_rows, note = len(codes), ""
            if seconds(partial(credal.log_bounds, codes[:2_000])) > 20 * seconds(partial(circuit.log_likelihood, codes[:2_000])):
                n_rows, note = 2_000, "measured on 2,000 rows; "
            sides = {
                "precise": partial(seconds, partial(circuit.log_likelihood, codes[:n_rows]), 0.2),
                "bounds": partial(seconds, partial(credal.log_bounds, codes[:n_rows]), 0.2),
            }
            measured = take_turns(sides, settings.rounds)
            found = ratio(measured["bounds"], measured["precise"])
            impossible = np.isneginf(credal.log_bounds(codes[:2_000])[:, 0]).mean()
            note += f"lower bound 0 in {impossible:.0%} of the rows" if impossible else ""
            yield Line((tree, evidence), f"bounds / precise: {kind}", found, *at_most(BOUNDS_TARGET, found), note)


def one_row_lines(tree: str, circuit: Circuit, codes: Codes, settings: Settings) -> Iterator[Line]:
    """Compare one row at a time with the exponentials of ten numbers."""
    row, ten = codes[:1].astype(np.int64), np.linspace(-2.0, 0.0, 10)
    calls: dict[str, Callable[[], object]] = {"log_likelihood, precise": partial(circuit.log_likelihood, row)}
    for kind, credal_set in circuits.CREDAL_SETS.items():
        calls[f"log_bounds, {kind}"] = partial(circuits.credal(circuit, credal_set).log_bounds, row)
    for what, call in calls.items():
        call()
        sides = {"one row": partial(seconds, call, 0.05), "exp": partial(seconds, partial(np.exp, ten), 0.05)}
        measured = take_turns(sides, max(settings.rounds, 9))
        found = ratio(measured["one row"], measured["exp"])
        note = f"{np.median(measured['one row']) * 1e6:.1f} microseconds"
        yield Line((tree, "one row"), f"{what} / np.exp of ten", found, *at_most(ONE_ROW_TARGET, found), note)


def memory_lines(tree: str) -> Iterator[Line]:
    """Tell the peak of memory that bounds of many rows take beyond the result: a block of rows, so the same for all."""
    peaks = {n_rows: memory.measured(tree, n_rows) for n_rows in MEMORY_ROWS}
    working = {n_rows: max(peak.above_baseline - peak.result, 0) for n_rows, peak in peaks.items() if peak}
    for n_rows, beyond in working.items():
        met = beyond <= working[MEMORY_ROWS[0]] + 8 * 2**20
        note = f"{beyond / 2**20:.1f} MB beyond the result"
        yield Line((tree, "30% missing"), f"memory, bounds of {n_rows} rows", None, "one block of rows", met, note)
    if not working:
        yield Line((tree, ""), "memory", note="not measured: this system does not tell peaks")


def _choose_block(plain: PlainNumpy, codes: Codes) -> None:
    taken = {}
    for block in BLOCK_ROWS:
        plain.block = block
        taken[block] = min(seconds(partial(plain.log_likelihood, codes[: BLOCK_ROWS[-1]])) for _ in range(2))
    plain.block = min(taken, key=lambda block: taken[block])


def _seconds_a_row(log_likelihood: Callable[[Codes], NDArray[np.float64]], codes: Codes) -> float:
    return seconds(partial(log_likelihood, codes), 0.2) / len(codes)


def _plain_seconds_a_row(plain: PlainNumpy, codes: Codes, most_seconds: float) -> float:
    first = codes[: plain.block]
    blocks = max(int(most_seconds / seconds(partial(plain.log_likelihood, first))), 1)
    here = codes[: blocks * plain.block]
    return _seconds_a_row(plain.log_likelihood, here)


def _contender(
    peer: peers.Peer, folder: Path, circuit: Circuit, rows: dict[str, Codes], expected: dict[str, NDArray[np.float64]]
) -> AbstractContextManager[peers.Contender]:
    if peer.problem:
        raise peers.PeerError(peer.problem)
    path = folder / "circuit.npz"
    circuits.save_for_peers(circuit, path)
    files = {evidence: folder / f"rows{i}.npy" for i, evidence in enumerate(rows)}
    for evidence, codes in rows.items():
        np.save(files[evidence], codes)
    return peers.contender(peer, folder, path, files, expected)


def _described(one: peers.Contender, evidence: str, settings: Settings) -> str:
    choice = one.choices[evidence]
    chosen = ", ".join(
        str(value) if isinstance(value, str) else key if value else f"not {key}"
        for key, value in choice.configuration.items()
        if key != "tolerance"
    )
    n_rows = one.rows_measured(evidence, settings.n_rows, settings.peer_seconds)
    agrees = f"agrees to {one.difference:.0e} (allowed {one.tolerance:.0e})"
    return f"{chosen}; {n_rows} rows, {choice.batch} at a time; {agrees}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table and write it where asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.likelihood", description=__doc__)
    parser.add_argument("--tree", choices=[tree.name for tree in circuits.TREES], action="append", help="both unless given")
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns that each side takes; at least five to be quoted")
    parser.add_argument("--peer-seconds", type=float, default=3.0, help="for a turn of numpy or a peer; sets its rows")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args(arguments)
    trees = [tree for tree in circuits.TREES if not chosen.tree or tree.name in chosen.tree]
    settings = Settings(chosen.rows, chosen.rounds, chosen.peer_seconds, not chosen.no_peers)
    report(("tree", "evidence"), table(trees, settings), chosen.json)


if __name__ == "__main__":
    main()
