"""A circuit in words: one line a node, root first."""

from __future__ import annotations

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import LEAF, PRODUCT, VERTICES
from credo.table.schema import Schema


def to_text(arrays: CircuitArrays, schema: Schema) -> str:
    """Return the columns and then every node on a line of its own, parents before children."""
    plural = "s" if arrays.n_nodes != 1 else "", "s" if len(schema) != 1 else ""
    lines = [f"circuit of {arrays.n_nodes} node{plural[0]} over {len(schema)} column{plural[1]}"]
    lines += [f"column {column!r}" for column in schema]
    lines += [_line(arrays, schema, node) for node in range(arrays.root, -1, -1)]
    return "\n".join(map(_on_one_line, lines)) + "\n"


def weight_texts(arrays: CircuitArrays, node: int, digits: int = 12) -> list[str]:
    """Return each weight of a node as an interval, or as a number where it is certain."""
    here = arrays.weights(node)
    return [
        f"{low:.{digits}g}" if low == high else f"[{low:.{digits}g}, {high:.{digits}g}]"
        for low, high in zip(arrays.lower[here], arrays.upper[here], strict=True)
    ]


def _line(arrays: CircuitArrays, schema: Schema, node: int) -> str:
    name = arrays.name(node)
    if arrays.kind[node] == PRODUCT:
        return f"{name}: " + " * ".join(str(child) for child in arrays.children(node))
    weights = weight_texts(arrays, node)
    if arrays.kind[node] == LEAF:
        column = schema.columns[arrays.column[node]]
        line = f"{name} {column.name}: " + ", ".join(f"{column.shown(code)} {weight}" for code, weight in enumerate(weights))
    else:
        line = f"{name}: " + " + ".join(f"{weight} {child}" for weight, child in zip(weights, arrays.children(node), strict=True))
    if arrays.set_kind[node] == VERTICES:
        vertices = ("(" + ", ".join(f"{weight:.12g}" for weight in row) + ")" for row in arrays.vertices(node))
        line += " in the hull of " + " ".join(vertices)
    return line


def _on_one_line(text: str) -> str:
    """Return a text with the characters that do not print, line breaks among them, escaped."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)
