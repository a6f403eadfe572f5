"""Read and write what Credo makes: one file each, told apart by the kind in its header."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.circuit import storage
from credo.circuit.arrays import DTYPES, CircuitArrays
from credo.circuit.paths import write_atomically
from credo.errors import CredoError, FileFormatError
from credo.table.schema import Column, Schema

if TYPE_CHECKING:
    from credo.model.circuit import Circuit


def save_circuit(arrays: CircuitArrays, schema: Schema, path: str | PathLike[str]) -> None:
    """Write a circuit to one file, in one step."""
    header = {"columns": [{"name": c.name, "size": c.size, "labels": c.labels} for c in schema]}
    write_atomically(Path(path), storage.to_bytes("circuit", header, arrays.as_mapping()))


def load(path: str | PathLike[str]) -> Circuit:
    """Read what `save` has written.

    Everything is checked; a truncated, altered or foreign file, or one of a newer format version, is an error.

    Raises
    ------
    FileFormatError
        Where the file is not a whole and unaltered one written by Credo.
    PathError
        Where it cannot be read at all; this is an `OSError`.

    Examples
    --------
    >>> import tempfile, pathlib, credo
    >>> b = credo.CircuitBuilder({"x": 2})
    >>> circuit = b.freeze(b.leaf("x", credo.Contaminated([0.75, 0.25], 0.1)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     circuit.save(pathlib.Path(folder) / "c.credo")
    ...     credo.load(pathlib.Path(folder) / "c.credo").probability({"x": 1})
    [0.225, 0.325]
    """
    from credo.model.circuit import Circuit

    header, arrays = storage.from_path(Path(path), {"circuit": DTYPES})
    try:
        columns = [_column(described) for described in header["columns"]]
        return Circuit(CircuitArrays.from_mapping(arrays), Schema(tuple(columns)))
    except (CredoError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path} was altered: {error}") from error


def _column(described: dict[str, Any]) -> Column:
    name, size, labels = described["name"], described["size"], described["labels"]
    if type(size) is not int or not isinstance(labels, list | None):
        raise TypeError(f"column {name!r} has {size!r} values and the labels {labels!r}")
    return Column(name, size, None if labels is None else tuple(labels))
