"""Run every gate besides the tests, and fail where one fails or looks at nothing.

A type checker pointed at a folder that does not exist, or a mark that no test bears, passes silently: so each gate must
also say how many things it looked at, and that number must not be zero.
"""

import re
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Gate:
    """A command, and where its output (or that of a command for the purpose) says how many things it looked at."""

    name: str
    command: tuple[str, ...]
    counted: str  # a pattern whose first group is a number, or which is counted where it has no group
    count_with: tuple[str, ...] | None = None


GATES = (
    Gate("format", ("ruff", "format", "--check", "."), r"(\d+) files? already formatted"),
    Gate("lint", ("ruff", "check", "."), r"\.py$", count_with=("ruff", "check", "--show-files", ".")),
    Gate("types", ("mypy",), r"no issues found in (\d+) source files?"),
    Gate("imports", ("importlinter.cli", "lint"), r"Contracts: (\d+) kept, 0 broken"),
    Gate("slow tests", ("pytest", "--collect-only", "-q", "-m", "slow"), r"(\d+)/\d+ tests collected|(\d+) tests collected"),
)


def main() -> int:
    """Run all gates and return how many failed."""
    failed = 0
    for gate in GATES:
        answer = _run(gate.command)
        counting = answer if gate.count_with is None else _run(gate.count_with)
        looked_at = _count(gate.counted, counting.stdout)
        good = answer.returncode == 0 and looked_at > 0
        print(f"{'passed' if good else 'FAILED'}: {gate.name}, {looked_at} looked at", flush=True)
        if not good:
            failed += 1
            print(answer.stdout + answer.stderr)
    return failed


def _run(command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    if command[0] == "importlinter.cli":
        program = [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"]
    else:
        program = [sys.executable, "-m", *command]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def _count(pattern: str, output: str) -> int:
    found = re.findall(pattern, output, flags=re.MULTILINE)
    numbers = [int(number) for match in found for number in (match if isinstance(match, tuple) else (match,)) if number.isdigit()]
    return numbers[0] if numbers else len(found)


if __name__ == "__main__":
    sys.exit(main())
