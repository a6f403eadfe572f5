"""Enumeration: every combination of vertices, one for each credal set, and the value of that network in every world.

A node that is shared by several parents chooses its vertex once. Nothing is said about bounds of inner nodes: what comes
out is what the compatible networks with extreme weights answer, and the bounds are the smallest and largest of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from reference.bounds import Evidence
from reference.circuits import Leaf, Node, Product, nodes
from reference.credal import Weights, vertices

Matrix = NDArray[np.float64]
World = tuple[int, ...]


def worlds(sizes: Sequence[int]) -> list[World]:
    """Return every complete row."""
    return list(product(*map(range, sizes)))


def n_combinations(root: Node) -> int:
    """Return the number of combinations of vertices."""
    return prod(len(vertices(node.credal_set)) for node in nodes(root) if not isinstance(node, Product))


def values_of_all_networks(root: Node, sizes: Sequence[int]) -> Matrix:
    """Return the probability of every world (columns) in every network with extreme weights (rows)."""
    ordered = nodes(root)
    with_set = [node for node in ordered if not isinstance(node, Product)]
    complete = np.array(worlds(sizes))
    return np.array(
        [
            values_of_network(ordered, dict(zip(with_set, choice, strict=True)), complete)
            for choice in product(*(vertices(node.credal_set) for node in with_set))
        ]
    )


def values_of_network(ordered: Sequence[Node], weights: Mapping[Node, Weights], complete: NDArray[np.int64]) -> Matrix:
    """Return the probability of complete rows in the network with one weight vector for each sum and leaf."""
    value: dict[Node, Matrix] = {}
    for node in ordered:
        if isinstance(node, Leaf):
            value[node] = np.array(weights[node])[complete[:, node.column]]
        elif isinstance(node, Product):
            value[node] = np.ones(len(complete))
            for child in node.children:
                value[node] = value[node] * value[child]
        else:
            value[node] = np.zeros(len(complete))
            for weight, child in zip(weights[node], node.children, strict=True):
                value[node] = value[node] + weight * value[child]
    return value[ordered[-1]]


def compatible_worlds(evidence: Evidence, sizes: Sequence[int]) -> NDArray[np.bool_]:
    """Return for every world whether the evidence allows it."""
    return np.array([all(code in allowed for code, allowed in zip(world, evidence, strict=True)) for world in worlds(sizes)])


def enumerated_bounds(values: Matrix, evidence: Sequence[Evidence], sizes: Sequence[int]) -> Matrix:
    """Return the smallest and largest probability of each evidence (rows, 2) over all networks."""
    allowed = np.array([compatible_worlds(one, sizes) for one in evidence], dtype=np.float64)
    probabilities = values @ allowed.T
    return np.stack([probabilities.min(axis=0), probabilities.max(axis=0)], axis=1)


def enumerated_conditional(values: Matrix, event: Evidence, given: Evidence, sizes: Sequence[int]) -> tuple[float, float]:
    """Return the smallest and largest conditional probability over the networks that give the condition a positive one."""
    condition = compatible_worlds(given, sizes)
    below = values @ condition.astype(np.float64)
    above = values @ (condition & compatible_worlds(event, sizes)).astype(np.float64)
    ratios = above[below > 0] / below[below > 0]
    return float(ratios.min()), float(ratios.max())
