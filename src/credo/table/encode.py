"""From tables of values to codes 0 .. K-1 with -1 for missing, and the schema that says which value a code stands for.

Columns are read one by one: what is needed besides the codes, one byte a cell, is a column or two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.errors import SchemaError
from credo.table.schema import Column, Schema

MOST_DISTINCT = 12  # whole numbers with more distinct values are quantities, not categories
MISSING = -1


def infer_schema(table: ArrayLike) -> Schema:
    """Return the columns of an array of whole numbers (missing cells are NaN): their distinct values are the labels.

    A column with one value only gets 0 as a second one, or 1 where it holds 0 or nothing at all, so that every column has
    at least two.
    """
    array = _checked(table)
    columns = []
    for at in range(array.shape[1]):
        values, _ = _whole_numbers(array, at)
        distinct = np.unique(values).tolist()
        if len(distinct) > MOST_DISTINCT:
            raise SchemaError(f"column {at} has {len(distinct)} distinct values; at most {MOST_DISTINCT} whole numbers are categories")
        if len(distinct) < 2:
            distinct = [0, 1] if distinct in ([], [0]) else sorted([0, *distinct])
        columns.append(Column(f"x{at}", len(distinct), tuple(distinct)))
    return Schema(tuple(columns))


def encode(table: ArrayLike, schema: Schema) -> NDArray[np.int8]:
    """Return the codes of an array of whole numbers, or say which value of which column the schema does not have."""
    array = _checked(table)
    if array.shape[1] != len(schema):
        raise SchemaError(f"the table has {array.shape[1]} columns, but the model has {len(schema)}: {', '.join(schema.names[:8])} ...")
    if _are_codes(array, schema):
        return array  # a copy would take as much memory again
    codes = np.full(array.shape, MISSING, dtype=np.int8)
    for at, column in enumerate(schema):
        values, known = _whole_numbers(array, at)
        labels = np.array(column.labels)
        place = np.searchsorted(labels, values).clip(max=len(labels) - 1)
        wrong = np.flatnonzero(labels[place] != values)
        if len(wrong):
            row = int((np.arange(len(array)) if known is None else np.flatnonzero(known))[wrong[0]])
            raise SchemaError(f"row {row}, column {at}: the value {values[wrong[0]]} is not one the model has learned: {column!r}")
        codes[slice(None) if known is None else known, at] = place
    return codes


def _are_codes(array: NDArray[Any], schema: Schema) -> bool:
    """Tell whether the values of a table are its codes, in the type that codes have."""
    if array.dtype != np.int8 or not array.flags.c_contiguous:
        return False
    plain = all(column.labels == tuple(range(column.size)) for column in schema)
    return plain and bool(array.min() >= 0) and bool((array.max(axis=0) < schema.sizes).all())


def _checked(table: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(table)
        if isinstance(table, np.ma.MaskedArray):
            array = np.where(np.ma.getmaskarray(table), np.nan, array)
    except ValueError as error:
        raise SchemaError(f"the rows of a table must be of one length and hold numbers: {error}") from error
    if array.ndim != 2 or 0 in array.shape:
        raise SchemaError(f"a table must have rows and columns, got an array of shape {array.shape}")
    if array.dtype == object:
        try:
            array = array.astype(np.float64)  # None becomes NaN
        except (TypeError, ValueError):
            raise SchemaError("a table must hold whole numbers with NaN for missing, got text or other objects") from None
    if array.dtype.kind not in "iufb":
        raise SchemaError(f"a table must hold whole numbers with NaN for missing, got {array.dtype}")
    return array


def _whole_numbers(array: NDArray[Any], at: int) -> tuple[NDArray[np.integer[Any]], NDArray[np.bool_] | None]:
    """Return the numbers that a column holds, and where; None where it holds one in every row."""
    here = array[:, at]
    if array.dtype.kind != "f":
        return here.astype(np.int8) if array.dtype == np.bool_ else here, None
    known = ~np.isnan(here)
    values = here[known]
    with np.errstate(invalid="ignore"):
        whole = values.astype(np.int64)
    wrong = np.flatnonzero(whole != values)
    if len(wrong):
        row = np.flatnonzero(known)[wrong[0]]
        raise SchemaError(f"row {row}, column {at}: {values[wrong[0]]:g} is not a whole number; missing cells are NaN")
    return whole, None if known.all() else known
