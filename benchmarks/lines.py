"""The table that a benchmark prints: a line for each thing compared, with the ratio found and whether it meets its target."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.timing import LowerBound, Spread


@dataclass(frozen=True)
class Line:
    """One line of the table; `where` are its first cells: the tree, the evidence, the data."""

    where: tuple[str, ...]
    what: str
    ratio: Spread | LowerBound | None = None
    target: str = ""
    met: bool | None = None
    note: str = ""

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the line."""
        met = {None: "", True: "met", False: "NOT MET"}[self.met]
        return *self.where, self.what, str(self.ratio or "-"), self.target, met, self.note


def at_least(target: float | None, found: Spread) -> tuple[str, bool | None]:
    """Return a lower target as text and whether the median meets it; nothing where there is no target."""
    return ("", None) if target is None else (f">= {target:g}", found.median >= target)


def at_most(target: float | None, found: Spread) -> tuple[str, bool | None]:
    """Return an upper target as text and whether the median meets it; nothing where there is no target."""
    return ("", None) if target is None else (f"<= {target:g}", found.median <= target)


def report(names: Sequence[str], lines: Iterable[Line], file: Path | None = None) -> None:
    """Print the table once all lines are there, each at once where somebody looks, and write it to a file where asked to.

    Parameters
    ----------
    names : sequence of str
        What the first cells of the lines, `where`, are called.
    lines : iterable of Line
        Measured as they are asked for.
    file : path, optional
        Gets the lines as JSON.
    """
    found = []
    for line in lines:
        found.append(line)
        if sys.stderr.isatty():
            print("  ".join(filter(None, line.cells())), file=sys.stderr)
    print(printed([(*names, "what", "median [spread]", "target", "", "note"), *(line.cells() for line in found)]))
    if file:
        file.write_text(json.dumps([_plain(names, line) for line in found], indent=1) + "\n")


def printed(lines: Sequence[tuple[str, ...]]) -> str:
    """Return lines of cells under each other."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)


def _plain(names: Sequence[str], line: Line) -> dict[str, object]:
    fields = asdict(line)
    return {**dict(zip(names, fields.pop("where"), strict=True)), **fields}
