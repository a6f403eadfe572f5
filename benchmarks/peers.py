"""Other libraries to compare with: an environment for each, and workers in them that evaluate the same circuit.

`python -m benchmarks.peers install` makes the environments, `remove` deletes them, `list` tells what is there. They lie in the
folder of Credo's caches (`CREDO_CACHE_DIR` moves it) and nothing else uses them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from threading import Event, Timer
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

BATCHES = (1_000, 4_000, 16_000)  # of rows; all values of a tree of 20,000 nodes take 1.3 GB for the last
CHECKED_ROWS = 1_000
WARM_UP_ROWS, WARM_UP_COLUMNS = 400, 8  # a pair of columns takes SPFlow milliseconds
LONG_ENOUGH = 1.0  # seconds of a trial that need no repetition
TORCH = "torch==2.13.0"


@dataclass(frozen=True)
class Peer:
    """A library: what pip is asked for, one call after the other, and the module that speaks for it."""

    name: str
    worker: str
    installs: tuple[tuple[str, ...], ...]
    learns: bool = False  # circuits, too
    pythons: tuple[str, ...] = ("python3.11", "python3.12", "python3.10")  # tried by name if the running one does not do

    @property
    def folder(self) -> Path:
        base = os.environ.get("CREDO_CACHE_DIR") or platformdirs.user_cache_dir("credo", appauthor=False)
        return Path(base) / "benchmarks" / self.worker

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def problem(self) -> str | None:
        """Why the library cannot be asked, or None."""
        if (self.folder / "ready").exists():
            return None
        reason = self.folder / "reason.txt"
        return reason.read_text() if reason.exists() else "not installed; python -m benchmarks.peers install"


# torch comes first: asked for by name and version it is taken as it is found, and what needs it adds nothing to it. The
# parts of deeprob-kit that need torchvision are not used, and torchvision would bring another torch.
PEERS = (
    Peer("SPFlow 1.1", "spflow", ((TORCH,), ("spflow==1.1.0",)), learns=True),
    Peer(
        "deeprob-kit 1.1",
        "deeprob",
        (
            (TORCH, "joblib", "numpy", "scipy", "tqdm", "scikit-learn", "matplotlib", "networkx", "pydot"),
            ("--no-deps", "deeprob-kit==1.1.0"),
        ),
        learns=True,
    ),
    Peer("cirkit 0.3", "cirkit", ((TORCH,), ("libcirkit==0.3.0",))),
)


def install(peer: Peer) -> None:
    """Make the environment of a library, or leave the reason why it could not be made."""
    problem = ""
    for python in (sys.executable, *filter(None, map(shutil.which, peer.pythons))):
        problem = _install(peer, python)
        if not problem:
            (peer.folder / "ready").touch()
            return
    remove(peer)
    peer.folder.mkdir(parents=True)
    (peer.folder / "reason.txt").write_text(problem)


def remove(peer: Peer) -> None:
    """Delete the environment of a library."""
    shutil.rmtree(peer.folder, ignore_errors=True)


def _install(peer: Peer, python: str) -> str:
    pip = [str(peer.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    commands = [[python, "-m", "venv", "--clear", str(peer.folder)], *([*pip, *arguments] for arguments in peer.installs)]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return _last_error(done.stderr) or f"{' '.join(command)} failed"
    return ""


def _last_error(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[-1].strip()


class PeerError(RuntimeError):
    """What went wrong in a worker."""


class PeerTooSlow(PeerError):
    """A worker was ended because it took too long."""


class Worker:
    """A running worker, answering one request at a time."""

    def __init__(self, peer: Peer) -> None:
        root = Path(__file__).parent.parent
        self._process = subprocess.Popen(
            [str(peer.python), "-m", f"benchmarks.peer_workers.{peer.worker}_worker"],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Return the worker's answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerError(f"the worker ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def ask_within(self, most_seconds: float, do: str, **arguments: Any) -> dict[str, Any]:
        """Return the worker's answer, or end the worker after so many seconds."""
        late = Event()

        def end() -> None:
            late.set()
            self._process.kill()

        timer = Timer(most_seconds, end)
        timer.start()
        try:
            return self.ask(do, **arguments)
        except PeerError as error:
            if late.is_set():
                raise PeerTooSlow(f"stopped after {most_seconds:g} seconds") from error
            raise
        finally:
            timer.cancel()

    def close(self) -> None:
        """End the worker."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@dataclass(frozen=True)
class Choice:
    """The quickest way found of evaluating one kind of rows."""

    seconds_a_row: float
    configuration: Mapping[str, Any]
    batch: int


@dataclass(frozen=True)
class Contender:
    """A worker with a circuit, and the quickest way of evaluating each kind of rows."""

    peer: Peer
    worker: Worker
    choices: Mapping[str, Choice]
    difference: float  # from Credo's values, in the most precise configuration
    tolerance: float

    def rows_measured(self, rows: str, n_rows: int, most_seconds: float) -> int:
        """Return how many rows to evaluate: as many whole batches as fit into `most_seconds`, at least one."""
        choice = self.choices[rows]
        return min(max(int(most_seconds / (choice.seconds_a_row * choice.batch)), 1) * choice.batch, n_rows)

    def build(self, rows: str) -> None:
        """Build the circuit as suits these rows best."""
        choice = self.choices[rows]
        self.worker.ask("build", configuration=choice.configuration)
        self.worker.ask("evaluate", rows=rows, n_rows=choice.batch, batch=choice.batch)

    def seconds_a_row(self, rows: str, n_rows: int, most_seconds: float) -> float:
        """Evaluate rows by the circuit that `build` left."""
        measured = self.rows_measured(rows, n_rows, most_seconds)
        answer = self.worker.ask("evaluate", rows=rows, n_rows=measured, batch=self.choices[rows].batch)
        return float(answer["seconds"] / answer["rows"])


@contextmanager
def contender(
    peer: Peer, folder: Path, circuit: Path, rows: Mapping[str, Path], expected: Mapping[str, NDArray[np.float64]]
) -> Iterator[Contender]:
    """Start a worker, compare its values with those expected, and find its quickest configurations."""
    worker = Worker(peer)
    try:
        answer = worker.ask("load", circuit=str(circuit), rows={name: str(path) for name, path in rows.items()})
        choices: dict[str, list[Choice]] = {name: [] for name in rows}
        differences: dict[float, float] = {}
        refused = "it knows no configuration"
        for configuration in answer["configurations"]:
            worker.ask("build", configuration=configuration)
            tolerance = configuration["tolerance"]
            difference = float(np.max([_difference(worker, name, folder / f"{peer.worker}.npy", expected[name]) for name in rows]))
            if not difference <= tolerance:
                refused = f"log-likelihoods differ from Credo's by {difference:.1e} with {configuration}"
                continue
            differences[tolerance] = max(differences.get(tolerance, 0.0), difference)
            for name in rows:
                choices[name].append(_best_batch(worker, name, configuration))
        if not differences:
            raise PeerError(refused)
        best = {name: min(found, key=lambda choice: choice.seconds_a_row) for name, found in choices.items()}
        yield Contender(peer, worker, best, differences[min(differences)], min(differences))
    finally:
        worker.close()


@dataclass(frozen=True)
class Learned:
    """How long learning took, the nodes of the circuit, the mean log-likelihood it gives to the test rows, and what to know of it."""

    seconds: float
    nodes: int
    log_likelihood: float
    how: str


@dataclass(frozen=True)
class LearningPeer:
    """A worker with training and test rows."""

    worker: Worker
    n_test_rows: int
    folder: Path

    def learn(self, most_seconds: float, seed: int) -> Learned:
        """Learn and test a circuit; `PeerTooSlow` where learning takes longer than so many seconds."""
        answer = self.worker.ask_within(most_seconds, "learn", rows="train", seed=seed)
        out = self.folder / "test_log_likelihood.npy"
        self.worker.ask("evaluate", rows="test", n_rows=self.n_test_rows, batch=BATCHES[0], out=str(out))
        return Learned(answer["seconds"], answer["nodes"], float(np.load(out).mean()), answer["learning"])


@contextmanager
def learning_peer(peer: Peer, folder: Path, train: NDArray[np.int8], test: NDArray[np.int8]) -> Iterator[LearningPeer]:
    """Start a worker, give it binary rows without missing cells, and let it learn from a few of them once."""
    if peer.problem:
        raise PeerError(peer.problem)
    if not np.isin(train, (0, 1)).all():
        raise PeerError("the workers know binary columns only")
    files = {"train": folder / "train.npy", "test": folder / "test.npy"}
    for name, rows in (("train", train), ("test", test)):
        np.save(files[name], rows)
    worker = Worker(peer)
    try:
        worker.ask("load", rows={name: str(path) for name, path in files.items()})
        worker.ask("learn", rows="train", seed=0, n_rows=WARM_UP_ROWS, n_columns=WARM_UP_COLUMNS)
        yield LearningPeer(worker, len(test), folder)
    finally:
        worker.close()


def _difference(worker: Worker, rows: str, out: Path, expected: NDArray[np.float64]) -> float:
    worker.ask("evaluate", rows=rows, n_rows=CHECKED_ROWS, batch=CHECKED_ROWS, out=str(out))
    return float(np.abs(np.load(out) - expected[:CHECKED_ROWS]).max())


def _best_batch(worker: Worker, rows: str, configuration: Mapping[str, Any]) -> Choice:
    best = Choice(inf, configuration, 0)
    for batch in BATCHES:
        found = inf
        for _ in range(3):
            answer = worker.ask("evaluate", rows=rows, n_rows=batch, batch=batch)
            found = min(found, answer["seconds"] / answer["rows"])
            if answer["seconds"] > LONG_ENOUGH:
                break
        if found > 0.95 * best.seconds_a_row:
            break
        best = Choice(found, configuration, batch)
        if found * batch > LONG_ENOUGH * 4:
            break
    return best


def main(arguments: Sequence[str] | None = None) -> None:
    """Install, remove or list the libraries."""
    names = ", ".join(peer.worker for peer in PEERS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("action", choices=["install", "remove", "list"])
    parser.add_argument("peer", nargs="*", help=f"of {names}, all unless given")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.peer) - {peer.worker for peer in PEERS}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {names}")
    for peer in PEERS:
        if chosen.peer and peer.worker not in chosen.peer:
            continue
        if chosen.action != "list":
            {"install": install, "remove": remove}[chosen.action](peer)
        print(f"{peer.name}: {peer.problem or f'ready in {peer.folder}'}")


if __name__ == "__main__":
    main()
