"""Build a circuit by hand, node by node and by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from credo.circuit.assemble import NodeSpec, assemble, reachable
from credo.circuit.checks import Violation
from credo.circuit.kinds import KIND_NAMES, LEAF, PRODUCT, SUM
from credo.credal_sets import CredalSet, Precise
from credo.errors import CircuitError, CredalSetError, EvidenceError, SchemaError
from credo.model.circuit import Circuit
from credo.table.schema import ColumnSpec, Schema

Weights = CredalSet | Sequence[float]


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a circuit under construction, to be used as a child of others."""

    number: int
    kind: int
    builder: CircuitBuilder

    def __repr__(self) -> str:
        return f"{KIND_NAMES[self.kind]} {self.number}"


class CircuitBuilder:
    """Build any sum-product circuit: leaves first, then the sums and products over them.

    A node may be a child of several others. Messages call nodes by kind and number, in the order of their making; they
    print that way too.

    Parameters
    ----------
    columns : mapping
        For each column its name and its number of values, or labels for them.

    Examples
    --------
    >>> from credo import CircuitBuilder, Intervals, Vertices
    >>> b = CircuitBuilder(columns={"X1": 2, "X2": ["no", "yes"]})
    >>> leaf = b.leaf("X2", Intervals([0.2, 0.5], [0.5, 0.8]))
    >>> s = b.sum([b.indicator("X1", 1), b.indicator("X1", 0)], Vertices([(0.3, 0.7), (0.4, 0.6)]))
    >>> circuit = b.freeze(b.product([s, leaf]))
    >>> circuit.probability({"X1": 1})
    [0.300, 0.400]
    >>> circuit.probability({"X1": 1, "X2": "yes"})
    [0.150, 0.320]
    """

    def __init__(self, columns: Mapping[str, ColumnSpec] | Schema) -> None:
        self._schema = columns if isinstance(columns, Schema) else Schema.of(columns)
        self._nodes: list[NodeSpec] = []

    def leaf(self, column: str, weights: Weights) -> Node:
        """Add a leaf: a distribution over the values of one column, with any credal set.

        Examples
        --------
        >>> from credo import CircuitBuilder, Contaminated
        >>> b = CircuitBuilder({"colour": ["red", "green", "blue"]})
        >>> b.freeze(b.leaf("colour", Contaminated([0.5, 0.3, 0.2], 0.1))).probability({"colour": {"red", "blue"}})
        [0.630, 0.730]
        """
        with self._leaf_errors():
            at = self._schema.position(column)
        size, found = self._schema.columns[at].size, _credal_set(weights, f"leaf {len(self._nodes)}")
        if len(found.centre) != size:
            raise CircuitError(f"leaf {len(self._nodes)}: column {column!r} has {size} values, but there are {len(found.centre)} weights")
        return self._add(NodeSpec(LEAF, column=at, credal_set=found))

    def indicator(self, column: str, value: object) -> Node:
        """Add a leaf that is 1 where the column has this value (a label, or a code where there are no labels), else 0.

        Examples
        --------
        >>> from credo import CircuitBuilder
        >>> b = CircuitBuilder({"smoker": ["no", "yes"]})
        >>> b.freeze(b.indicator("smoker", "yes")).probability({"smoker": "no"})
        [0.000, 0.000]
        """
        with self._leaf_errors():
            described = self._schema.columns[self._schema.position(column)]
            code = described.code(value)
        return self.leaf(column, Precise([float(k == code) for k in range(described.size)]))

    def sum(self, children: Iterable[Node], weights: Weights) -> Node:
        """Add a weighted sum of nodes over the same columns; the weights are a credal set or plain numbers.

        Examples
        --------
        >>> from credo import CircuitBuilder, Intervals
        >>> b = CircuitBuilder({"x": 2})
        >>> b.freeze(b.sum([b.leaf("x", [0.9, 0.1]), b.leaf("x", [0.2, 0.8])], Intervals([0.3, 0.4], [0.6, 0.7]))).probability({"x": 1})
        [0.380, 0.590]
        """
        numbers = self._numbers(children, "sum")
        found = _credal_set(weights, f"sum {len(self._nodes)}")
        if len(found.centre) != len(numbers):
            raise CircuitError(f"sum {len(self._nodes)}: there are {len(numbers)} children, but {len(found.centre)} weights")
        return self._add(NodeSpec(SUM, children=numbers, credal_set=found))

    def product(self, children: Iterable[Node]) -> Node:
        """Add a product of nodes that have no column in common.

        Examples
        --------
        >>> from credo import CircuitBuilder
        >>> b = CircuitBuilder({"x": 2, "y": 2})
        >>> b.freeze(b.product([b.leaf("x", [0.9, 0.1]), b.leaf("y", [0.5, 0.5])])).probability({"x": 1, "y": 0})
        [0.050, 0.050]
        """
        return self._add(NodeSpec(PRODUCT, children=self._numbers(children, "product")))

    def freeze(self, root: Node) -> Circuit:
        """Return the circuit below `root`; nodes that it does not reach are left out.

        Raises
        ------
        CircuitError
            Where the children of a product share columns or the children of a sum differ in them.

        Examples
        --------
        >>> from credo import CircuitBuilder
        >>> b = CircuitBuilder({"x": 2})
        >>> b.freeze(b.leaf("x", [0.9, 0.1]))
        Circuit(1 node, 0 edges; precise, tree; x: 2 values)
        """
        number = self._number(root, "the root")
        kept = reachable(self._nodes, number)
        renumbered = {old: new for new, old in enumerate(kept)}
        nodes = [
            NodeSpec(node.kind, node.column, tuple(renumbered[child] for child in node.children), node.credal_set)
            for node in (self._nodes[old] for old in kept)
        ]
        arrays = assemble(nodes, self._schema.sizes)
        if arrays.violations:
            renamed = [Violation(kept[one.node], one.kind, one.columns) for one in arrays.violations]
            raise CircuitError("\n".join(one.message(self._schema.names) for one in renamed))
        return Circuit(arrays, self._schema)

    def _add(self, node: NodeSpec) -> Node:
        self._nodes.append(node)
        return Node(len(self._nodes) - 1, node.kind, self)

    def _numbers(self, children: Iterable[Node], kind: str) -> tuple[int, ...]:
        new = f"{kind} {len(self._nodes)}"
        if isinstance(children, set | frozenset):
            raise CircuitError(f"{new}: the children are a set, which has no order; use a list")
        nodes = tuple(children) if isinstance(children, Iterable) else (children,)
        if not nodes:
            raise CircuitError(f"{new} has no children; give at least one")
        return tuple(self._number(node, f"{new}: a child") for node in nodes)

    def _number(self, node: Node, what: str) -> int:
        if not isinstance(node, Node):
            raise CircuitError(f"{what} must be a node made by this builder, got {node!r}")
        if node.builder is not self:
            raise CircuitError(f"{what} must be a node made by this builder, but {node!r} was made by another one")
        return node.number

    @contextmanager
    def _leaf_errors(self) -> Iterator[None]:
        """Tell of an unknown column or value as of a mistake in a leaf: nothing is observed here."""
        try:
            yield
        except EvidenceError as error:
            raise SchemaError(f"leaf {len(self._nodes)}: {error}") from None


def _credal_set(weights: Weights, node: str) -> CredalSet:
    if isinstance(weights, type):  # a class has the members of its instances
        raise CredalSetError(
            f"{node}: the weights must be a credal set or numbers, got the class {weights.__name__} itself; call it with numbers"
        )
    if isinstance(weights, CredalSet):
        return weights
    try:
        return Precise(weights)
    except CredalSetError as error:
        raise CredalSetError(f"{node}: {error}") from None
