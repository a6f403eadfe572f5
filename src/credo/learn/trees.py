"""What a structure learner returns: a plain tree of counts, not yet a circuit.

    Node = Leaves | Product | Sum

    Sum      counts: rows of each child         children: Leaves or Product; Sum only where weights are intervals
    Product  leaves: columns of their own       children: Sum, never Product or Leaves
    Leaves   columns, value counts              one column: a leaf; more: a product of leaves

Most nodes of a learned circuit are leaves, and most leaves come in blocks over the same rows (302,000 of the 303,000 nodes learned
from BBC's 1058 columns, in 1,200 blocks). So leaves are no objects: a block holds one array of columns and one of counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.integer]
Numbers: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[Any]  # fractions where rows are divided among clusters


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """A cluster of rows as learning left it: what it is like, and which rows it keeps.

    Parameters
    ----------
    size : int
        How many rows learning put there that know at least half of their cells.
    counts : int array
        How many of them have each value, the columns one after the other.
    rows : int array
        Those of them that miss no cell of these columns, ascending.
    """

    size: int
    counts: Integers
    rows: Integers


@dataclass(frozen=True, slots=True, eq=False)
class OpenCounts:
    """What is known of the rows at a node, for each child of a sum or each value of each leaf.

    Parameters
    ----------
    sure : array
        Rows that surely are at the node and surely there.
    elsewhere : array
        Rows that may be at the node and there in another child or with another value.
    possible : array
        Rows that may be there.
    excluded : array
        Rows that surely are at the node and surely not there.
    """

    sure: Numbers
    elsewhere: Numbers
    possible: Numbers
    excluded: Numbers

    @classmethod
    def of_certain(cls, counts: Numbers, known: Numbers, missing: Numbers, room: Numbers | float = 0.0) -> OpenCounts:
        """Return those of values where all rows are at the leaf for certain, and `room` more may be; the others by value, too."""
        return cls(counts, known + missing + room - counts, counts + missing + room, known - counts)

    def part(self, here: slice) -> OpenCounts:
        """Return those of some children or values."""
        return OpenCounts(self.sure[here], self.elsewhere[here], self.possible[here], self.excluded[here])

    @classmethod
    def joined(cls, pieces: Sequence[OpenCounts]) -> OpenCounts:
        """Return several, one behind the other."""
        arrays = ([p.sure for p in pieces], [p.elsewhere for p in pieces], [p.possible for p in pieces], [p.excluded for p in pieces])
        return cls(*map(np.concatenate, arrays))


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Columns that are independent given the rows that are here.

    Parameters
    ----------
    columns : int array
        Numbers of the columns in the table.
    counts : int array
        How many of the rows have each value: the values of the first column, then those of the second, ...; as many
        for each column as the table says it has values.
    missing : int array, optional
        How many of the rows miss the cell of each column; none unless given.
    open : OpenCounts, optional
        Where rows may be here or elsewhere: what bounds the probability of each value. `counts` and `missing` then are of the rows
        that are most likely here.
    """

    columns: Integers
    counts: Counts
    missing: Counts | None = None
    open: OpenCounts | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """Independent groups of columns: each column of `leaves` by itself and the columns of each child."""

    leaves: Leaves
    children: tuple[Sum, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """Clusters of rows: `counts[i]` of them are in `children[i]`, and the weights are their proportions.

    Where rows with missing cells may be in several clusters, weights are intervals, and a child may be a sum, too.

    Parameters
    ----------
    counts : int array
        How many rows are surely in each cluster.
    children : tuple of nodes
    possible : int array, optional
        How many rows may be in each cluster; where it is not given, `counts` are all.
    best : int array, optional
        How many rows are most likely in each cluster, every row counted once: with `possible`, the centre of the weights.
    columns : int array, optional
        The columns below.
    clusters : tuple of Cluster
        What learning found, one for each child, where rows are to be counted anew.
    open : OpenCounts, optional
        Where rows may be in one cluster or another: what bounds the weight of each. `counts` then are of the rows that are most
        likely there.
    """

    counts: Counts
    children: tuple[Node, ...]
    possible: Integers | None = None
    best: Integers | None = None
    columns: Integers | None = None
    clusters: tuple[Cluster, ...] = ()
    open: OpenCounts | None = None


Node: TypeAlias = "Leaves | Product | Sum"


def walk(root: Node) -> Iterator[Node]:
    """Yield the root and then all sums, products and blocks of leaves below it, every parent before its children."""
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, Product):
            pending.append(node.leaves)
        if not isinstance(node, Leaves):
            pending.extend(reversed(node.children))
