"""What learning takes as rows and restarts grow: time and memory of one `CredalSPN.fit`, each in a process of its own.

`python -m benchmarks.growth 10000 --restarts 10 --seed 0` prints them as JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks import memory
from credo import CredalSPN

NAME = "mixture"
N_COLUMNS, N_PROFILES, NOISE = 16, 12, 0.1
RESTARTS = 10
WARM_UP_ROWS = 200
ROWS_AT_ONCE = 4096  # so that making the table takes no memory beside it that learning could use again


@dataclass(frozen=True)
class Growth:
    """Seconds of structure and weights, nodes of the circuit, bytes of the table and of what the process held more at its peak."""

    seconds: float
    nodes: int
    table: int
    peak: int | None  # above the process without the table, which is in it; None where the system does not tell peaks


def measured(n_rows: int, restarts: int, seed: int) -> Growth:
    """Learn from so many rows in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.growth", str(n_rows), "--restarts", str(restarts), "--seed", str(seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Growth(**json.loads(done.stdout))


def table(n_rows: int) -> NDArray[np.int8]:
    """Return rows of binary columns: each is one of a few profiles, drawn by their weights, with some of its cells turned over."""
    rng = np.random.default_rng(0)
    profiles = rng.random((N_PROFILES, N_COLUMNS)) < 0.5
    weights = rng.dirichlet(np.full(N_PROFILES, 2.0))
    rows = np.empty((n_rows, N_COLUMNS), np.int8)
    for start in range(0, n_rows, ROWS_AT_ONCE):
        here = rows[start : start + ROWS_AT_ONCE]
        here[:] = profiles[rng.choice(N_PROFILES, len(here), p=weights)] ^ (rng.random(here.shape) < NOISE)
    return rows


def _growth(n_rows: int, restarts: int, seed: int) -> Growth:
    model = CredalSPN(learner="learn_spn", smoothing=1.0, restarts=restarts, random_state=seed, verbose=False)
    model.fit(table(WARM_UP_ROWS))
    tells = memory.peaks_are_told()
    before = memory.held() if tells else 0
    rows = table(n_rows)
    if tells:
        memory.reset_peak()
    model.fit(rows)
    return Growth(model.learning_seconds_, model.n_nodes_, rows.nbytes, memory.peak() - before if tells else None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("rows", type=int)
    parser.add_argument("--restarts", type=int, default=RESTARTS)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    print(json.dumps(asdict(_growth(chosen.rows, chosen.restarts, chosen.seed))))
