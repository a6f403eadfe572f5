"""Arrays and a JSON header as one zip file: no pickle, and nothing that is not checked on reading.

The comment at the end of the zip file is the SHA-256 of all bytes before it, so a file of which any byte was changed, cut off or
added is refused. That tells damage, not forgery: what the arrays mean is checked by who reads them.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from credo.circuit.paths import explained
from credo.errors import FileFormatError

FORMAT = "credo"
VERSION = 1
HEADER = "header.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes
MOST_HEADER_BYTES = 2**28
ZIP_START = b"PK\x03\x04"
DIGEST_LENGTH = 64  # hexadecimal digits

Dtypes = Mapping[str, np.dtype[Any]]


def to_bytes(kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a header and named arrays as the bytes of one file of some kind."""
    described = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        **header,
        "arrays": {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"0" * DIGEST_LENGTH
        archive.writestr(_entry(HEADER), json.dumps(described, indent=1))
        for name, array in arrays.items():
            content = io.BytesIO()
            npy.write_array(content, array, version=(1, 0), allow_pickle=False)
            archive.writestr(_entry(f"{name}.npy"), content.getvalue())
    return sealed(buffer.getvalue())


def sealed(content: bytes) -> bytes:
    """Return the bytes of a zip file with the digest of all bytes before its comment as the comment, which must be as long."""
    return content[:-DIGEST_LENGTH] + hashlib.sha256(content[:-DIGEST_LENGTH]).hexdigest().encode()


def from_path(path: Path, kinds: Mapping[str, Dtypes]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file, or say why it is refused.

    Parameters
    ----------
    path : Path
        The file.
    kinds : mapping
        For each kind of file that can be read the types of its arrays.
    """
    with explained(path, "read"), open(path, "rb") as file:
        content = file.read(len(ZIP_START))
        if content == ZIP_START:
            content += file.read()
    if not content.startswith(ZIP_START):
        raise FileFormatError(f"{path} is not a file written by Credo")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            header = _header(path, archive)
            if content != sealed(content):
                raise FileFormatError(f"{path} is truncated or was altered: its content does not match the digest at its end")
            kind = header.get("kind")
            if not isinstance(kind, str) or kind not in kinds:
                raise FileFormatError(f"{path} holds a {kind!r}, which this version cannot read")
            return header, {name: _array(path, archive, header, name, dtype) for name, dtype in kinds[kind].items()}
    except FileFormatError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, struct.error, ValueError) as error:
        raise FileFormatError(f"{path} is truncated or was altered: {error}") from error


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
    if type(version) is not int or version < 1:
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
