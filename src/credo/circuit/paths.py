"""Files named by users: what is wrong with a path in plain words, and files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from credo.errors import PathError

_REASONS = {
    errno.EISDIR: "it is a folder; give the name of a file",
    errno.ENOTDIR: "what stands for a folder in it is a file; check the path",
    errno.EACCES: "permission is denied; change the permissions or choose another place",
    errno.EPERM: "permission is denied; change the permissions or choose another place",
    errno.EROFS: "the file system is read-only; choose another place",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.ELOOP: "it is a link that leads back to itself; remove the link or choose another name",
    errno.ENOSPC: "there is no space left on the disk; free some or choose another place",
    errno.EINVAL: "it is neither a file nor a new name; choose another name",
}


@contextmanager
def explained(path: Path, done: Literal["read", "written"]) -> Iterator[None]:
    """Turn what the system says of a path into an error that names the path, the reason and the way out."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise PathError(f"{path} cannot be {done}: {_reason(path, done, error)}") from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that at every moment either the old content or the new one is there, whole; links are followed."""
    with explained(path, "written"):
        target = Path(os.path.realpath(path))
        old = _mode(target)
        part = target.with_name(f".credo-{secrets.token_hex(8)}")
        try:
            with open(part, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if old is not None:
                os.chmod(part, old)
            os.replace(part, target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise


def _mode(path: Path) -> int | None:
    """Return the permissions of a file that may be replaced, None where there is no file yet."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):  # a device or pipe would be gone
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return mode & 0o777


def _reason(path: Path, done: str, error: OSError | ValueError) -> str:
    if isinstance(error, ValueError):
        return f"its name is no file name ({error}); choose another one"
    if error.errno != errno.ENOENT:
        return _REASONS.get(error.errno or 0) or f"{error.strerror or error}"
    if done == "read":
        return "there is no such file; check the name and the folder"
    return f"there is no folder {os.path.dirname(os.path.realpath(path))}; make it first or choose another one"
