"""The benchmark tables of the field, where a folder with them is at hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from credo.errors import DataError

Part = Literal["train", "valid", "test"]
PARTS: tuple[Part, ...] = ("train", "valid", "test")


def folder() -> Path | None:
    """Return the folder that the environment variable `CREDO_DATA` names, or None."""
    named = os.environ.get("CREDO_DATA")
    return Path(named) if named else None


def available() -> list[str]:
    """Return the names of the tables in the folder, each with its three parts."""
    here = folder()
    if here is None or not here.is_dir():
        return []
    return sorted(sub.name for sub in here.iterdir() if all(_file(sub, part).exists() for part in PARTS))


def read(name: str, part: Part) -> NDArray[np.int8]:
    """Return one part of a table of whole numbers: the training, validation or test rows."""
    here = folder()
    if here is None:
        raise DataError(f"the table {name!r} is not here: set CREDO_DATA to a folder with {name}/{name}.{part}.data.gz")
    file = _file(here / name, part)
    if not file.exists():
        raise DataError(f"{file} does not exist; the tables in {here} are: {', '.join(available()) or 'none'}")
    table: NDArray[np.int8] = np.loadtxt(file, delimiter=",", dtype=np.int8, ndmin=2)
    return table


def _file(where: Path, part: Part) -> Path:
    packed = where / f"{where.name}.{part}.data.gz"
    return packed if packed.exists() else where / f"{where.name}.{part}.data"
