"""A circuit as a picture: graphviz source always, a rendered picture where the program `dot` is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.circuit.checks import scopes
from credo.circuit.kinds import LEAF, PRODUCT
from credo.errors import CircuitError, MissingToolError
from credo.model.text import weight_texts
from credo.table.schema import Schema

SOURCES, PICTURES = (".dot", ".gv"), (".svg", ".png", ".pdf")
MOST_NAMES = 4  # columns named in a box before the rest is counted
MOST_LEAVES = 8  # leaves of a product written out in its box


def draw(arrays: CircuitArrays, schema: Schema, path: Path, max_nodes: int) -> Path:
    """Write a drawing and return its path."""
    if path.suffix not in SOURCES + PICTURES:
        raise CircuitError(f"cannot draw to {path.name!r}; the name must end in one of {', '.join(SOURCES + PICTURES)}")
    source = path if path.suffix in SOURCES else path.with_suffix(".dot")
    source.write_text(to_dot(arrays, schema, max_nodes), encoding="utf-8")
    if path.suffix in SOURCES:
        return path
    program = shutil.which("dot")
    if program is None:
        raise MissingToolError(
            f"the graphviz program 'dot' is not installed, so {path.name} was not made; its source is in {source}. Install graphviz "
            f"and run: dot -T{path.suffix[1:]} {source} -o {path}"
        )
    answer = subprocess.run([program, f"-T{path.suffix[1:]}", str(source), "-o", str(path)], capture_output=True, text=True, check=False)
    if answer.returncode:
        raise MissingToolError(f"'dot' could not draw {source}: {answer.stderr.strip()}")
    return path


def to_dot(arrays: CircuitArrays, schema: Schema, max_nodes: int) -> str:
    """Return the graphviz source of a circuit.

    Leaves that belong to one product only are written into its box. Nodes are drawn breadth first from the root; once
    there are `max_nodes`, what lies below a node is one box that tells how much it holds.
    """
    parents = np.bincount(arrays.child, minlength=arrays.n_nodes)
    drawn = _nodes_to_draw(arrays, parents, max_nodes)
    scope = scopes(arrays)
    lines = ["digraph circuit {", '  node [fontname="Helvetica", fontsize=10]; edge [fontname="Helvetica", fontsize=9];']
    for node, whole in sorted(drawn.items(), reverse=True):
        if not whole:
            below = f"{_n_below(arrays, node)} nodes over {_names(schema, scope[node])}"
            lines.append(f"  n{node} [shape=folder, style=dashed, label={_quoted(arrays.name(node), below)}];")
            continue
        if arrays.kind[node] == LEAF:
            column = int(arrays.column[node])
            lines.append(f"  n{node} [shape=box, style=rounded, label={_quoted(schema.names[column], *_values(arrays, schema, node))}];")
            continue
        inside = [child for child in arrays.children(node).tolist() if _is_inside(arrays, parents, node, child)]
        if arrays.kind[node] == PRODUCT:
            shown = [_leaf_line(arrays, schema, leaf) for leaf in inside[:MOST_LEAVES]]
            shown += [f"... and {len(inside) - MOST_LEAVES} more leaves"] * (len(inside) > MOST_LEAVES)
            lines.append(f"  n{node} [shape=box, label={_quoted(f'× {node}', _names(schema, scope[node]), *shown)}];")
        else:
            lines.append(f"  n{node} [shape=ellipse, label={_quoted(f'+ {node}', _names(schema, scope[node]))}];")
        weights = [""] * len(arrays.children(node)) if arrays.kind[node] == PRODUCT else weight_texts(arrays, node, 3)
        for child, weight in zip(arrays.children(node).tolist(), weights, strict=True):
            if child not in inside:
                lines.append(f"  n{node} -> n{child}" + (f" [label={_quoted(weight)}];" if weight else ";"))
    return "\n".join([*lines, "}"]) + "\n"


def _nodes_to_draw(arrays: CircuitArrays, parents: NDArray[np.int64], max_nodes: int) -> dict[int, bool]:
    """Return the nodes that get a box of their own, and whether they are drawn whole (True) or stand for all below."""
    if max_nodes < 1:
        raise CircuitError(f"max_nodes must be at least 1, got {max_nodes}")
    drawn = {arrays.root: True}
    waiting = [arrays.root]
    for node in waiting:  # grows while it is read
        boxes = [child for child in arrays.children(node).tolist() if not _is_inside(arrays, parents, node, child) and child not in drawn]
        if len(drawn) + len(boxes) > max_nodes:
            drawn[node] = False
            continue
        drawn.update(dict.fromkeys(boxes, True))
        waiting += boxes
    return drawn


def _is_inside(arrays: CircuitArrays, parents: NDArray[np.int64], node: int, child: int) -> bool:
    """Tell whether a leaf is written into the box of its product."""
    return bool(arrays.kind[node] == PRODUCT and arrays.kind[child] == LEAF and parents[child] == 1)


def _n_below(arrays: CircuitArrays, node: int) -> int:
    seen = {node}
    waiting = [node]
    while waiting:
        for child in arrays.children(waiting.pop()).tolist():
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return len(seen)


def _leaf_line(arrays: CircuitArrays, schema: Schema, leaf: int) -> str:
    values = _values(arrays, schema, leaf)
    name = schema.names[int(arrays.column[leaf])]
    return f"{name}: {values[0] if len(values) == 1 else values[1] if len(values) == 2 else ', '.join(values)}"


def _values(arrays: CircuitArrays, schema: Schema, leaf: int) -> list[str]:
    """Return each value with its weight, or only the value of an indicator."""
    column = schema.columns[int(arrays.column[leaf])]
    certain = np.flatnonzero(arrays.lower[arrays.weights(leaf)] == 1)
    if len(certain):
        return [f"= {column.shown(int(certain[0]))}"]
    texts = [f"{column.shown(code)} {weight}" for code, weight in enumerate(weight_texts(arrays, leaf, 3))]
    return texts if len(texts) <= MOST_LEAVES else [*texts[: MOST_LEAVES - 1], f"... {len(texts)} values"]


def _names(schema: Schema, scope: frozenset[int]) -> str:
    names = [schema.names[column] for column in sorted(scope)]
    return ", ".join(names if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], f"... {len(names)} columns"])


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
