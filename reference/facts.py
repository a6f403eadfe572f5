"""Facts about circuits, by definition: trees, selectivity, depth."""

from __future__ import annotations

from itertools import combinations

from reference.circuits import Leaf, Node, Product, children, nodes, paths
from reference.credal import LocalSet, vertices


def is_free(credal_set: LocalSet) -> bool:
    """Tell whether a credal set holds more than one point."""
    return len(vertices(credal_set)) > 1


def is_precise(root: Node) -> bool:
    """Tell whether every credal set is a single point."""
    return not any(is_free(node.credal_set) for node in nodes(root) if not isinstance(node, Product))


def is_tree(root: Node) -> bool:
    """Tell whether no node with several points in a credal set at or below it is at the end of two paths from the root."""
    ends = list(paths(root))
    return all(ends.count(node) == 1 or is_precise(node) for node in nodes(root))


def depth(root: Node) -> int:
    """Return the number of edges on the longest path downwards."""
    return 1 + max(map(depth, children(root))) if children(root) else 0


def most(credal_set: LocalSet) -> list[float]:
    """Return the largest value of each weight."""
    return [max(weights) for weights in zip(*vertices(credal_set), strict=True)]


def possible_values(node: Node) -> dict[int, set[int]]:
    """Return for each column of a node the values that can have a positive probability, looked at column by column."""
    if isinstance(node, Leaf):
        return {node.column: {code for code, weight in enumerate(most(node.credal_set)) if weight > 1e-12}}
    found: dict[int, set[int]] = {}
    for child in children(node) if isinstance(node, Product) else possible_children(node):
        for column, values in possible_values(child).items():
            found.setdefault(column, set()).update(values)
    return found


def possible_children(node: Node) -> list[Node]:
    """Return the children of a sum whose weight can be positive."""
    assert not isinstance(node, Leaf | Product)
    return [child for child, weight in zip(node.children, most(node.credal_set), strict=True) if weight > 1e-12]


def is_selective(root: Node) -> bool:
    """Tell whether any two possible children of a sum have a column in which they have no value in common."""
    for node in nodes(root):
        if isinstance(node, Leaf | Product):
            continue
        values = [possible_values(child) for child in possible_children(node)]
        if any(all(one[column] & other[column] for column in one) for one, other in combinations(values, 2)):
            return False
    return True
