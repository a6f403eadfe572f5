"""The table: how likely the test rows are and how many nodes it takes, for Credo's default structure and for others, on complete tables.

Run `python -m benchmarks.structures`; each side takes the same random states in one session. Log-likelihoods are exact, smoothing (and
for the default the g_factor) is chosen on the validation rows where the side has such a choice.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import peers
from benchmarks.learning import Table
from benchmarks.lines import Line, report
from benchmarks.peers import Learned
from benchmarks.timing import Score
from credo import CredalSPN
from credo.table import datasets

SIDES: dict[str, dict[str, Any]] = {
    "default": {"learner": "cautious"},
    "default, g_factor=10": {"learner": "cautious", "g_factor": 10.0},
    "published rule": {"learner": "learn_spn", "g_factor": 10.0, "cluster_penalty": 0.6},
}
SEEDS = 5


def lines(names: Sequence[str], seeds: int, most_seconds: float) -> Iterator[Line]:
    """Measure and give the lines one by one; a side is beaten where another one is better in both respects."""
    for name in names:
        table = Table(name, *(datasets.read(name, part) for part in datasets.PARTS))
        turns = {side: [learned(table, told, seed) for seed in range(seeds)] for side, told in SIDES.items()}
        for peer in peers.PEERS:
            if peer.learns and peer.name.startswith("deeprob"):
                found, problem = _by_peer(peer, table, seeds, most_seconds)
                if problem:
                    yield Line((name,), peer.name, note=problem)
                if found:
                    turns[peer.name] = found
        middles = {side: (median(one.log_likelihood for one in each), median(one.nodes for one in each)) for side, each in turns.items()}
        for side, each in turns.items():
            likelihood, nodes = middles[side]
            beaten = [other for other, (score, size) in middles.items() if score > likelihood and size < nodes]
            scores = [one.log_likelihood for one in each]
            verdict = f"beaten by {', '.join(beaten)}" if beaten else "beaten by none"
            seconds = median(one.seconds for one in each)
            note = f"{nodes:,.0f} nodes, {seconds:.2f} s, {verdict}"
            met = not beaten if side == "default" else None
            target = "beaten by none" if side == "default" else ""
            yield Line((name,), side, Score(likelihood, min(scores), max(scores)), target, met, note)


def learned(table: Table, told: dict[str, Any], seed: int) -> Learned:
    """Learn with Credo."""
    model = CredalSPN(**told, smoothing="validate", random_state=seed, verbose=False).fit(table.train, validation=table.valid)
    return Learned(model.learning_seconds_, model.n_nodes_, model.score(table.test), "")


def _by_peer(peer: peers.Peer, table: Table, seeds: int, most_seconds: float) -> tuple[list[Learned], str]:
    found: list[Learned] = []
    try:
        with TemporaryDirectory() as folder, peers.learning_peer(peer, Path(folder), table.train, table.test) as worker:
            learn = partial(worker.learn, most_seconds)
            found.extend(learn(seed) for seed in range(seeds))
    except peers.PeerError as error:
        return found, f"not measured: {error}"
    return found, ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.structures", description=__doc__)
    parser.add_argument("--tables", nargs="+", metavar="NAME", default=datasets.available())
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--peer-seconds", type=float, default=120.0, help="the peer is stopped then")
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args(arguments)
    report(("table",), lines(chosen.tables, chosen.seeds, chosen.peer_seconds), chosen.json)


if __name__ == "__main__":
    main()
