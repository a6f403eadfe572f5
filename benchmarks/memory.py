"""What an evaluation takes of memory beyond what the process holds before it; each measurement in a process of its own.

`python -m benchmarks.memory small 100000` prints bytes as JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks import circuits

CLEAR_REFS = Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # what it takes to let the peak begin anew


@dataclass(frozen=True)
class Peak:
    """Bytes above the baseline, and the part of them that is the result."""

    above_baseline: int
    result: int


def measured(tree: str, n_rows: int) -> Peak | None:
    """Return the peak of bounds of so many rows, or None where the system does not tell peaks."""
    if not peaks_are_told():
        return None
    command = [sys.executable, "-m", "benchmarks.memory", tree, str(n_rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Peak(**json.loads(done.stdout))


def _peak(tree: str, n_rows: int) -> Peak:
    precise = {one.name: one for one in circuits.TREES}[tree].build()
    circuit = circuits.credal(precise, circuits.contaminated)
    codes = circuits.rows(circuit.schema.sizes, n_rows, missing=0.3)
    circuit.log_bounds(codes[:10])
    reset_peak()
    before = held()
    result = circuit.log_bounds(codes)
    return Peak(peak() - before, result.nbytes)


def peaks_are_told() -> bool:
    """Whether the system tells the peak of a process and lets it begin anew."""
    return CLEAR_REFS.exists()


def reset_peak() -> None:
    """Let the peak of this process begin anew."""
    CLEAR_REFS.write_text(RESET_PEAK)


def held() -> int:
    """Return how many bytes of memory this process holds."""
    return _status("VmRSS")


def peak() -> int:
    """Return how many bytes this process held at most since its peak began."""
    return _status("VmHWM")


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory")
    parser.add_argument("tree", choices=[tree.name for tree in circuits.TREES])
    parser.add_argument("rows", type=int)
    chosen = parser.parse_args()
    print(json.dumps(vars(_peak(chosen.tree, chosen.rows))))
