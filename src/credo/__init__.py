"""Credo: learn credal sum-product networks from tables with missing values, and answer with probability intervals.

The public names are loaded when first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Bounds": "credo.bounds",
    "Circuit": "credo.model.circuit",
    "CircuitBuilder": "credo.model.builder",
    "Contaminated": "credo.credal_sets",
    "CredalSPN": "credo.estimators.density",
    "CredoError": "credo.errors",
    "CredoWarning": "credo.errors",
    "Intervals": "credo.credal_sets",
    "Precise": "credo.credal_sets",
    "Schema": "credo.table.schema",
    "Vertices": "credo.credal_sets",
    "errors": "credo.errors",
    "gaps": "credo.table.gaps",
    "load": "credo.model.files",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'credo' has no attribute {name!r}")
    home = import_module(_HOME[name])
    return home if _HOME[name].endswith(f".{name}") else getattr(home, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
