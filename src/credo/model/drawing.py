"""A circuit as a picture: graphviz source always, a rendered picture where the program `dot` is installed."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.circuit.checks import columns_below
from credo.circuit.kinds import LEAF, PRODUCT
from credo.circuit.paths import explained, write_atomically
from credo.errors import CircuitError, MissingToolError, PathError
from credo.model.text import weight_texts
from credo.table.schema import Schema

START = "digraph circuit {"  # the first line, by which Credo knows its own files
SOURCES, PICTURES = (".dot", ".gv"), (".svg", ".png", ".pdf")
MOST_NAMES = 4  # columns named in a box before the rest is counted
MOST_LEAVES = 8  # leaves of a product written out in its box


def draw(arrays: CircuitArrays, schema: Schema, path: Path, max_nodes: int) -> Path:
    """Write a drawing and return its path."""
    ending = path.suffix.lower()
    if ending not in SOURCES + PICTURES:
        raise CircuitError(f"cannot draw to {path.name!r}; the name must end in one of {', '.join(SOURCES + PICTURES)}")
    dot = to_dot(arrays, schema, max_nodes).encode()
    if ending in SOURCES:
        write_atomically(path, dot)
        return path
    source = path.with_suffix(".dot")
    if not _may_be_replaced(source):
        raise PathError(f"{source} is in the way: the source of {path.name} goes there, but Credo did not write it; draw to another name")
    write_atomically(source, dot)
    program = shutil.which("dot")
    if program is None:
        by_hand = shlex.join(["dot", f"-T{ending[1:]}", str(source), "-o", str(path)])
        raise MissingToolError(
            f"the graphviz program 'dot' is not installed, so {path.name} was not made; its source is in {source}. Install graphviz "
            f"and run: {by_hand}"
        )
    answer = subprocess.run([program, f"-T{ending[1:]}"], input=dot, capture_output=True, check=False)
    if answer.returncode:
        raise MissingToolError(f"'dot' could not draw {source}: {answer.stderr.decode(errors='replace').strip()}")
    write_atomically(path, answer.stdout)
    return path


def to_dot(arrays: CircuitArrays, schema: Schema, max_nodes: int) -> str:
    """Return the graphviz source of a circuit.

    Leaves that belong to one product only are written into its box. Nodes are drawn breadth first from the root; once
    there are `max_nodes`, what lies below a node is one box that tells how much it holds. Of more children of the root than
    fit, the first ones are drawn.
    """
    parents = np.bincount(arrays.child, minlength=arrays.n_nodes)
    drawn, n_left_out = _nodes_to_draw(arrays, parents, max_nodes)
    scope = columns_below(arrays, drawn)
    lines = [START, '  node [fontname="Helvetica", fontsize=10]; edge [fontname="Helvetica", fontsize=9];']
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
            if child in drawn and child not in inside:
                lines.append(f"  n{node} -> n{child}" + (f" [label={_quoted(weight)}];" if weight else ";"))
    if n_left_out:
        lines.append(f"  more [shape=folder, style=dashed, label={_quoted(f'... {n_left_out} more')}];")
        lines.append(f"  n{arrays.root} -> more;")
    return "\n".join([*lines, "}"]) + "\n"


def _nodes_to_draw(arrays: CircuitArrays, parents: NDArray[np.int64], max_nodes: int) -> tuple[dict[int, bool], int]:
    """Return the nodes that get a box of their own, and how many children of the root are left out.

    A node is drawn whole (True) or stands for all below it (False).
    """
    if max_nodes < 1:
        raise CircuitError(f"max_nodes must be at least 1, got {max_nodes}")
    drawn = {arrays.root: True}
    n_left_out = 0
    waiting = [arrays.root]
    for node in waiting:  # grows while it is read
        children = dict.fromkeys(arrays.children(node).tolist())
        boxes = [child for child in children if not _is_inside(arrays, parents, node, child) and child not in drawn]
        room = max_nodes - len(drawn) - (n_left_out > 0)
        if len(boxes) > room:
            if node != arrays.root or room < 2:  # one child and the box for the others
                drawn[node] = False
                continue
            n_left_out = len(boxes) - (room - 1)
            boxes = boxes[: room - 1]
        drawn.update(dict.fromkeys(boxes, True))
        waiting += boxes
    return drawn, n_left_out


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


def _names(schema: Schema, scope: list[int]) -> str:
    names = [schema.names[column] for column in scope]
    return ", ".join(names if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], f"... {len(names)} columns"])


def _quoted(*lines: str) -> str:
    """Return lines as one label; graphviz reads `&` as the beginning of a character's name."""
    escaped = (_on_one_line(line).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines)
    return '"' + "\\n".join(escaped) + '"'


def _on_one_line(text: str) -> str:
    """Return a text with the characters that do not print, line breaks among them, escaped."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def _may_be_replaced(source: Path) -> bool:
    """Tell whether there is no such file, or one that Credo has drawn."""
    with explained(source, "read"):
        if not source.exists():
            return True
        with open(source, "rb") as file:
            return file.readline(len(START) + 1).decode(errors="replace").rstrip() == START
