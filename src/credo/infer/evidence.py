"""What is known of a row: codes checked against the columns, and allowed values from labels and sets of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.errors import EvidenceError
from credo.table.schema import Column, Schema

MISSING = -1


def checked_codes(codes: ArrayLike, schema: Schema) -> NDArray[Any]:
    """Return `codes` as an array of whole numbers (rows, columns) within each column's values, or say what is wrong."""
    try:
        array = np.asarray(codes)
        if isinstance(codes, np.ma.MaskedArray) and array.dtype.kind in "biu":
            array = np.where(np.ma.getmaskarray(codes), MISSING, array.astype(np.int64))
    except ValueError as error:
        raise EvidenceError(f"codes must have the shape (rows, {len(schema)}); these rows differ in length") from error
    if array.ndim != 2 or array.shape[1] != len(schema):
        raise EvidenceError(
            f"codes must have the shape (rows, {len(schema)}), one column each for {_names(schema.names)}; got the shape {array.shape}"
        )
    if array.dtype == np.bool_:
        array = array.view(np.int8)
    if array.dtype.kind not in "iu":
        if array.size == 0:
            return array.astype(np.int8)
        raise EvidenceError(f"codes must be whole numbers, with -1 for missing; got numbers of type {array.dtype}")
    # Called for single rows, too: the reductions without their wrappers, and the columns one by one only where it matters.
    if array.size and (np.maximum.reduce(array, None) >= schema.smallest_size or np.minimum.reduce(array, None) < MISSING):
        sizes = np.array(schema.sizes)
        wrong = (array < MISSING) | (array >= sizes)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise EvidenceError(
                f"row {row}, column {schema.names[column]!r}: the code {array[row, column]} is none of 0 to {sizes[column] - 1}, "
                "nor -1 for missing"
            )
    return array


def allowed_values(evidence: Mapping[str, object], schema: Schema) -> NDArray[np.uint8]:
    """Return a flag for every value of every column, one column after the other: 1 where the evidence allows the value.

    The value of a column is a label (a code where the column has no labels), a collection of them, or None for missing.
    """
    if not isinstance(evidence, Mapping):
        raise EvidenceError(f"evidence must be a mapping such as {{{schema.names[0]!r}: value}}, got {evidence!r}")
    first = np.concatenate([[0], np.cumsum(schema.sizes)])
    allowed = np.ones(int(first[-1]), dtype=np.uint8)
    for name, value in evidence.items():
        at = schema.position(name)
        if value is None or (isinstance(value, float | np.floating) and value != value):
            continue
        here = allowed[first[at] : first[at + 1]]
        here[:] = 0
        here[_codes(schema.columns[at], value)] = 1
    return allowed


def _codes(column: Column, value: object) -> list[int]:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return [column.code(value)]
    codes = [column.code(one) for one in value]
    if not codes:
        raise EvidenceError(f"column {column.name!r}: an empty set of values cannot be observed; leave the column out if it is unknown")
    return codes


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:6], f"... {len(names)} in all"])
