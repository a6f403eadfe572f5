"""A circuit's arrays and a JSON header as one zip file: no pickle, and nothing that is not checked on reading."""

from __future__ import annotations

import io
import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from credo.errors import FileFormatError

FORMAT = "credo"
VERSION = 1
HEADER = "header.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes
MOST_HEADER_BYTES = 2**28


def to_bytes(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a header and named arrays as the bytes of one file."""
    described = {
        "format": FORMAT,
        "version": VERSION,
        **header,
        "arrays": {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(HEADER), json.dumps(described, indent=1))
        for name, array in arrays.items():
            content = io.BytesIO()
            npy.write_array(content, array, version=(1, 0), allow_pickle=False)
            archive.writestr(_entry(f"{name}.npy"), content.getvalue())
    return buffer.getvalue()


def from_path(path: Path, dtypes: Mapping[str, np.dtype[Any]]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file, or say why it is refused."""
    try:
        with open(path, "rb") as file:
            start = file.read(4)
    except OSError as error:
        raise FileFormatError(f"{path} cannot be read: {error.strerror or error}") from error
    if start != b"PK\x03\x04":
        raise FileFormatError(f"{path} is not a file written by Credo")
    try:
        with zipfile.ZipFile(path) as archive:
            header = _header(path, archive)
            return header, {name: _array(path, archive, header, name, dtype) for name, dtype in dtypes.items()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, struct.error) as error:
        raise FileFormatError(f"{path} is truncated or was altered: {error}") from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that at every moment either the old content or the new one is there, whole."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, (path.stat().st_mode & 0o777) if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _header(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    if HEADER not in archive.namelist():
        raise FileFormatError(f"{path} is not a file written by Credo: it has no {HEADER}")
    if archive.getinfo(HEADER).file_size > MOST_HEADER_BYTES:
        raise FileFormatError(f"{path} was altered: its header is too large")
    try:
        header = json.loads(archive.read(HEADER))
    except ValueError as error:
        raise FileFormatError(f"{path} was altered: its header is not JSON ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileFormatError(f"{path} is not a file written by Credo")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise FileFormatError(f"{path} was altered: its format version is {version!r}")
    if version > VERSION:
        raise FileFormatError(f"{path} has format version {version}, written by a newer Credo; this one reads up to version {VERSION}")
    return header


def _array(path: Path, archive: zipfile.ZipFile, header: Mapping[str, Any], name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    described = header.get("arrays")
    stored = described.get(name) if isinstance(described, dict) else None
    if stored is None or f"{name}.npy" not in archive.namelist():
        raise FileFormatError(f"{path} was altered: the array {name!r} is missing")
    if not isinstance(stored, list) or stored[:1] != [dtype.str] or len(stored) != 2 or not _is_shape(stored[1]):
        raise FileFormatError(f"{path} was altered: the array {name!r} is described as {stored!r}, expected numbers of type {dtype.str}")
    size = stored[1][0] * dtype.itemsize
    if not size <= archive.getinfo(f"{name}.npy").file_size <= size + 4096:
        raise FileFormatError(f"{path} was altered: the array {name!r} does not have the {stored[1][0]} entries that the header states")
    content = io.BytesIO(archive.read(f"{name}.npy"))
    try:
        found = npy.read_array_header_1_0(content) if npy.read_magic(content) == (1, 0) else None
    except ValueError as error:
        raise FileFormatError(f"{path} was altered: the array {name!r} cannot be read ({error})") from error
    values = content.read()
    if found != ((stored[1][0],), False, dtype) or len(values) != size:
        raise FileFormatError(f"{path} was altered: the array {name!r} does not match the header")
    return np.frombuffer(values, dtype=dtype)


def _is_shape(shape: object) -> bool:
    return isinstance(shape, list) and len(shape) == 1 and type(shape[0]) is int and shape[0] >= 0


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
