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

RESET_PEAK = "5"  # what /proc/self/clear_refs takes to let the peak begin anew


@dataclass(frozen=True)
class Peak:
    """Bytes above the baseline, and the part of them that is the result."""

    above_baseline: int
    result: int


def measured(tree: str, n_rows: int) -> Peak | None:
    """Return the peak of bounds of so many rows, or None where the system does not tell peaks."""
    if not Path("/proc/self/clear_refs").exists():
        return None
    command = [sys.executable, "-m", "benchmarks.memory", tree, str(n_rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Peak(**json.loads(done.stdout))


def _peak(tree: str, n_rows: int) -> Peak:
    precise = {one.name: one for one in circuits.TREES}[tree].build()
    circuit = circuits.credal(precise, circuits.contaminated)
    codes = circuits.rows(circuit.schema.sizes, n_rows, missing=0.3)
    circuit.log_bounds(codes[:10])
    Path("/proc/self/clear_refs").write_text(RESET_PEAK)
    before = _status("VmRSS")
    result = circuit.log_bounds(codes)
    return Peak(_status("VmHWM") - before, result.nbytes)


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory")
    parser.add_argument("tree", choices=[tree.name for tree in circuits.TREES])
    parser.add_argument("rows", type=int)
    chosen = parser.parse_args()
    print(json.dumps(vars(_peak(chosen.tree, chosen.rows))))
