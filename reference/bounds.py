"""Lower and upper probability of evidence, by recursion on the definition."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from reference.circuits import Leaf, Node, Product
from reference.credal import best_sum, n_weights

Evidence = Sequence[Collection[int]]  # for each column the codes that are allowed


def bounds(root: Node, evidence: Evidence) -> tuple[float, float]:
    """Return the smallest and largest probability of the evidence over all choices of weights."""
    return best_value(root, evidence, False), best_value(root, evidence, True)


def best_value(root: Node, evidence: Evidence, maximum: bool) -> float:
    """Return the best value of a node: a product multiplies, a sum or a leaf tries every extreme point of its credal set."""
    known: dict[Node, float] = {}

    def value(node: Node) -> float:
        if node not in known:
            if isinstance(node, Leaf):
                indicators = [float(code in evidence[node.column]) for code in range(n_weights(node.credal_set))]
                known[node] = best_sum(node.credal_set, indicators, maximum)
            elif isinstance(node, Product):
                product = 1.0
                for child in node.children:
                    product *= value(child)
                known[node] = product
            else:
                known[node] = best_sum(node.credal_set, [value(child) for child in node.children], maximum)
        return known[node]

    return value(root)


def evidence_of_codes(codes: Sequence[int], sizes: Sequence[int]) -> Evidence:
    """Return the evidence of a row of codes: a known code allows itself, a missing one (-1) every value."""
    return [range(size) if code < 0 else (code,) for code, size in zip(codes, sizes, strict=True)]
