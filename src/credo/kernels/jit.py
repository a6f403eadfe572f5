"""How kernels are compiled and where the compiled code is kept: one decorator, one policy.

Numba keeps compiled code beside the sources and looks only at the file of the compiled function itself: an installed
package may not be writable there, and a change in another kernel file would go unnoticed. So the cache lives in a folder
of the user, under a name that is a hash of every kernel source, of the constants they share with others, and of numba's
version. Where no such folder can be written, kernels are compiled anew in each process and nothing else changes.

`CREDO_CACHE_DIR` moves the folder. No `fastmath`: minus infinity is the logarithm of zero and bounds must not cross.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs

from credo import rounding

Kernel = Callable[..., Any]


def cache_folder() -> Path | None:
    """Return the writable folder for compiled kernels, or None where there is none."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in (Path(rounding.__file__), *sorted(Path(__file__).parent.glob("*.py"))):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    base = os.environ.get("CREDO_CACHE_DIR") or platformdirs.user_cache_dir("credo", appauthor=False)
    folder = Path(base) / "kernels" / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


_FOLDER = cache_folder()


def kernel(function: Kernel) -> Kernel:
    """Compile `function` on first use, without the interpreter lock, and keep the result between processes."""
    return _compiled(function, nogil=True)


def short_kernel(function: Kernel) -> Kernel:
    """Compile a function that is mostly done before another thread could take the interpreter lock, and so keeps it."""
    return _compiled(function, nogil=False)


def _compiled(function: Kernel, nogil: bool) -> Kernel:
    config: Any = numba.config
    if config.DISABLE_JIT:  # a debugger or a counter of lines is at work: integers overflow silently as they do when compiled
        return np.errstate(over="ignore")(function)
    if _FOLDER is None:
        return numba.njit(function, nogil=nogil, error_model="numpy")
    before, config.CACHE_DIR = config.CACHE_DIR, str(_FOLDER)  # read while decorating, then put back for other libraries
    try:
        return numba.njit(function, nogil=nogil, error_model="numpy", cache=True)
    finally:
        config.CACHE_DIR = before


def inlined(function: Kernel) -> Kernel:
    """Mark a helper whose body is copied into the kernels that call it: arrays passed to a call cost reference counts."""
    return numba.njit(function, nogil=True, error_model="numpy", inline="always")


def interrupted(error: SystemError) -> BaseException:
    """Return the Ctrl-C that came while compiled code ran, which Python reports as a `SystemError`, or else the error itself."""
    return KeyboardInterrupt() if isinstance(error.__cause__, KeyboardInterrupt) else error
