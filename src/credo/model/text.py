"""A circuit in words: one line a node, root first, with nothing left out, so that a difference of circuits is one of lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import CONTAMINATED, LEAF, PRECISE, PRODUCT, VERTICES
from credo.credal_sets import Intervals
from credo.table.schema import Column, Label, Schema

_PLAIN = re.compile(r"(?!(True|False|inf|nan)$)[^\W\d_][\w -]*")  # text that needs no quotes: it is no number and holds no separator


def to_text(arrays: CircuitArrays, schema: Schema) -> str:
    """Return the columns and then every node on a line of its own, parents before children."""
    plural = "s" if arrays.n_nodes != 1 else "", "s" if len(schema) != 1 else ""
    lines = [f"circuit of {arrays.n_nodes} node{plural[0]} over {len(schema)} column{plural[1]}"]
    lines += [f"column {_quoted(column.name)}: {_values(column)}" for column in schema]
    lines += [_line(arrays, schema, node) for node in range(arrays.root, -1, -1)]
    return "\n".join(lines) + "\n"


def weight_texts(arrays: CircuitArrays, node: int, digits: int | None = None) -> list[str]:
    """Return each weight of a node as an interval, or as a number where it is certain; with all digits unless told how many."""
    here = arrays.weights(node)
    return [
        _number(low, digits) if low == high else f"[{_number(low, digits)}, {_number(high, digits)}]"
        for low, high in zip(arrays.lower[here].tolist(), arrays.upper[here].tolist(), strict=True)
    ]


def _line(arrays: CircuitArrays, schema: Schema, node: int) -> str:
    name = arrays.name(node)
    if arrays.kind[node] == PRODUCT:
        return f"{name}: " + " * ".join(str(child) for child in arrays.children(node))
    weights = weight_texts(arrays, node)
    if arrays.kind[node] == LEAF:
        column = schema.columns[arrays.column[node]]
        values = range(column.size) if column.labels is None else column.labels
        line = f"{name} {_quoted(column.name)}: " + ", ".join(
            f"{_quoted(value)} {weight}" for value, weight in zip(values, weights, strict=True)
        )
    else:
        line = f"{name}: " + " + ".join(f"{weight} {child}" for weight, child in zip(weights, arrays.children(node), strict=True))
    return line + _more_of_the_set(arrays, node)


def _more_of_the_set(arrays: CircuitArrays, node: int) -> str:
    """Return what the intervals of a credal set do not tell: how it was given, and its centre where that is not the default."""
    here, kind = arrays.weights(node), arrays.set_kind[node]
    lower, upper, centre = arrays.lower[here], arrays.upper[here], arrays.centre[here]
    if kind == PRECISE:
        return ""
    if kind == CONTAMINATED:
        return f" by contamination of {_point(centre)}"
    if kind == VERTICES:
        vertices = arrays.vertices(node)
        more, default = " in the hull of " + " ".join(map(_point, vertices)), vertices.mean(axis=0)
    else:
        more, default = " as intervals" if np.array_equal(lower, upper) else "", Intervals(lower, upper).centre
    return more if np.array_equal(centre, default) else f"{more} around {_point(centre)}"


def _values(column: Column) -> str:
    return f"{column.size} values" if column.labels is None else " | ".join(map(_quoted, column.labels))


def _quoted(value: Label) -> str:
    """Return a name or label on one line, in quotes where it could be taken for something else."""
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else repr(str(value))
    return repr(value)


def _point(weights: Iterable[float]) -> str:
    return "(" + ", ".join(_number(float(weight)) for weight in weights) + ")"


def _number(value: float, digits: int | None = None) -> str:
    """Return a number with as many digits as tell it from every other one, or with so many; 0.0 makes -0 a 0."""
    return repr(value + 0.0).removesuffix(".0") if digits is None else f"{value + 0.0:.{digits}g}"
