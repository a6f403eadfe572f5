"""Compile a circuit into the straight-line program that `credo.kernels.passes.block_pass` runs.

The program walks the circuit from the root, children first, and keeps values in numbered slots as on a stack: a product
multiplies its leaves into its slot and its other children, computed one slot further, onto it; a precise sum adds up in
its slot in the same way; a credal sum needs the values of all its children, in as many slots side by side. Nodes with
several parents are computed once and kept in a slot of their own; shared leaves are simply read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import LEAF, PRECISE, PRODUCT, VERTICES
from credo.kernels import operations
from credo.rounding import ROUNDING

BLOCK_BYTES = 2**18  # what the slots of a block may take: a quarter of a usual second-level cache
MOST_ROWS, FEWEST_ROWS = 512, 16  # of a block; measured: 512 rows cost 0.9 and 64 rows 1.9 of what 256 do
MOST_CHILDREN_BY_PAIRS = 128
SAFE_LOG2 = -900.0  # values above 2**-900 are right whatever underflowed below them
FINEST_WEIGHT_LOG2 = -80.0  # what rounding may leave as the last weight that a greedy filling gives away


@dataclass(frozen=True)
class Program:
    """What a block pass needs besides the rows; see the kernel for the meaning of the operations."""

    operations: NDArray[np.int32]
    leaf_column: NDArray[np.uint32]  # unsigned: compiled look-ups need not ask whether an index counts from the end
    leaf_table: NDArray[np.uint32]
    tables: NDArray[np.float64]  # (2, states): smallest and largest value of each leaf in each state, missing last
    vertex_sets: NDArray[np.int64]  # (sets, 2): first number and number of vertices
    n_slots: int
    root: int
    block: int
    may_underflow: bool

    @cached_property
    def log_tables(self) -> NDArray[np.float64]:
        """The logarithms of the tables, for rows whose probability is too small for a float."""
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(self.tables)
        return logs

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """Which states of which leaves have a positive smallest value."""
        return self.tables[0] > 0


def compile_program(arrays: CircuitArrays) -> Program:
    """Return the program of a circuit."""
    first_state, tables = leaf_tables(arrays)
    walk = _Walk(arrays)
    root = walk.run()
    leaves = np.concatenate(walk.leaf_runs) if walk.leaf_runs else np.empty(0, dtype=np.int64)
    n_slots = walk.n_slots + len(walk.register)
    operations = np.array(walk.operations, dtype=np.int32).reshape(-1, 5)
    operations[:, 1:3] = _registers_last(operations, walk.n_slots)
    return Program(
        operations=operations,
        leaf_column=arrays.column[leaves].astype(np.uint32),
        leaf_table=first_state[leaves].astype(np.uint32),
        tables=tables,
        vertex_sets=np.array(walk.vertex_sets, dtype=np.int64).reshape(-1, 2),
        n_slots=n_slots,
        root=root,
        block=int(np.clip(BLOCK_BYTES // (16 * n_slots), FEWEST_ROWS, MOST_ROWS)),
        may_underflow=_smallest_log2(arrays, first_state, tables) < SAFE_LOG2,
    )


def leaf_tables(arrays: CircuitArrays) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return where each leaf's states begin, and its smallest and largest value in each state: its values, then missing."""
    leaves = np.flatnonzero(arrays.kind == LEAF)
    size = np.diff(arrays.weight_offset)[leaves]
    first_state = np.zeros(arrays.n_nodes, dtype=np.int64)
    first_state[leaves] = np.concatenate([[0], np.cumsum(size + 1)[:-1]])
    tables = np.ones((2, int((size + 1).sum())))
    owner = np.repeat(leaves, size)
    value = np.arange(len(owner)) - np.repeat(np.concatenate([[0], np.cumsum(size)[:-1]]), size)
    weight, state = arrays.weight_offset[owner] + value, first_state[owner] + value
    low, high = arrays.lower[weight], arrays.upper[weight]
    starts = np.concatenate([[0], np.cumsum(size)[:-1]])
    # Intervals that were not tightened have bounds out of reach.
    reach_low = 1 - (np.repeat(np.add.reduceat(high, starts), size) - high)
    reach_high = 1 - (np.repeat(np.add.reduceat(low, starts), size) - low)
    open_ = (arrays.set_kind != PRECISE)[owner]
    tables[0, state] = np.where(open_ & (reach_low > low + ROUNDING), reach_low, low)
    tables[1, state] = np.where(open_ & (reach_high < high - ROUNDING), np.maximum(reach_high, 0), high)
    return first_state, tables


class _Walk:
    """The walk over the circuit; recursion is a list of things still to do, as circuits may be deep."""

    def __init__(self, arrays: CircuitArrays) -> None:
        self.arrays = arrays
        self.operations: list[tuple[int, int, int, int, int]] = []
        self.leaf_runs: list[NDArray[np.int64]] = []
        self.n_leaves = 0
        self.vertex_sets: list[tuple[int, int]] = []
        self.n_slots = 1
        self.register: dict[int, int] = {}  # slot of a node with several parents, counted from -1 downwards
        parents = np.bincount(arrays.child, minlength=arrays.n_nodes)
        self.shared = (parents > 1) & (arrays.kind != LEAF)
        self.binary = arrays.column_size == 2

    def run(self) -> int:
        self.todo: list[tuple[int, int, int, int, int] | tuple[int, int]] = [(self.arrays.root, 0)]
        while self.todo:
            step = self.todo.pop()
            if len(step) == 5:
                self.operations.append(step)
            else:
                self.visit(*step)
        return 0

    def visit(self, node: int, slot: int) -> None:
        """Plan the operations that bring the value of `node` into `slot`."""
        self.n_slots = max(self.n_slots, slot + 1)
        if node in self.register:
            self.operations.append((operations.COPY, slot, self.register[node], 0, 0))
            return
        plan: list[tuple[int, int, int, int, int] | tuple[int, int]]
        if self.arrays.kind[node] == LEAF:
            self.leaves(np.array([node]), slot)
            return
        if self.arrays.kind[node] == PRODUCT:
            plan = self.product(node, slot)
        elif self.arrays.is_free[node]:
            plan = self.credal_sum(node, slot)
        else:
            plan = self.precise_sum(node, slot)
        if self.shared[node]:
            self.register[node] = -1 - len(self.register)
            plan.append((operations.COPY, self.register[node], slot, 0, 0))
        self.todo.extend(reversed(plan))

    def leaves(self, nodes: NDArray[np.int64], slot: int) -> None:
        binary = self.binary[self.arrays.column[nodes]]
        first = 1
        for code, run in ((operations.BINARY_LEAVES, nodes[binary]), (operations.LEAVES, nodes[~binary])):
            if len(run):
                self.leaf_runs.append(run)
                self.operations.append((code, slot, self.n_leaves, len(run), first))
                self.n_leaves += len(run)
                first = 0

    def product(self, node: int, slot: int) -> list[tuple[int, int, int, int, int] | tuple[int, int]]:
        children = self.arrays.children(node).astype(np.int64)
        is_leaf = self.arrays.kind[children] == LEAF
        empty = not is_leaf.any()
        if not empty:
            self.leaves(children[is_leaf], slot)
        plan: list[tuple[int, int, int, int, int] | tuple[int, int]] = []
        for child in children[~is_leaf].tolist():
            if empty:
                plan.append((child, slot))
                empty = False
            else:
                plan += [(child, slot + 1), (operations.TIMES, slot, slot + 1, 0, 0)]
        return plan

    def precise_sum(self, node: int, slot: int) -> list[tuple[int, int, int, int, int] | tuple[int, int]]:
        plan: list[tuple[int, int, int, int, int] | tuple[int, int]] = []
        at = int(self.arrays.weight_offset[node])
        for i, child in enumerate(self.arrays.children(node).tolist()):
            if self.arrays.centre[at + i] > 0:
                plan += [(child, slot + 1), (operations.ADD, slot, slot + 1, at + i, int(not plan))]
        return plan

    def credal_sum(self, node: int, slot: int) -> list[tuple[int, int, int, int, int] | tuple[int, int]]:
        children = self.arrays.children(node).tolist()
        n = len(children)
        plan: list[tuple[int, int, int, int, int] | tuple[int, int]] = [(child, slot + i) for i, child in enumerate(children)]
        if self.arrays.set_kind[node] == VERTICES:
            plan.append((operations.VERTICES, slot, len(self.vertex_sets), n, 0))
            self.vertex_sets.append((int(self.arrays.point_offset[node]), len(self.arrays.vertices(node))))
        else:
            plan.append((operations.INTERVALS, slot, int(self.arrays.weight_offset[node]), n, int(self.by_pairs(node))))
        return plan

    def by_pairs(self, node: int) -> bool:
        """Tell whether comparing all pairs of children is cheaper than selecting the best ones (costs were measured)."""
        here = self.arrays.weights(node)
        n = here.stop - here.start
        room = np.sort(self.arrays.upper[here] - self.arrays.lower[here])
        most_selections = 1 + int(np.searchsorted(np.cumsum(room), 1 - self.arrays.lower[here].sum() - ROUNDING))
        return bool(n <= MOST_CHILDREN_BY_PAIRS and 2 * min(most_selections, n) * (n + 8) > n * n)


def _registers_last(operations: NDArray[np.int32], n_slots: int) -> NDArray[np.int32]:
    """Return the slot columns of the operations with the registers, negative so far, moved behind the stack."""
    slots = operations[:, 1:3].copy()
    slots[slots < 0] = n_slots - 1 - slots[slots < 0]
    return slots


def _smallest_log2(arrays: CircuitArrays, first_state: NDArray[np.int64], tables: NDArray[np.float64]) -> float:
    """Return a bound below log2 of every positive value that the root can take."""
    leaf = arrays.kind == LEAF
    smallest = np.zeros(arrays.n_nodes)
    smallest[leaf] = np.minimum.reduceat(_log2_if_positive(tables).min(axis=0), first_state[leaf])
    for node in np.flatnonzero(~leaf).tolist():
        below = smallest[arrays.children(node)]
        smallest[node] = below.sum() if arrays.kind[node] == PRODUCT else below.min() + _smallest_weight_log2(arrays, node)
    return float(smallest[arrays.root])


def _smallest_weight_log2(arrays: CircuitArrays, node: int) -> float:
    """Return a bound below log2 of every positive weight of a sum."""
    here = arrays.weights(node)
    if not arrays.is_free[node]:
        return float(_log2_if_positive(arrays.centre[here]).min())
    if arrays.set_kind[node] == VERTICES:
        return float(_log2_if_positive(arrays.vertices(node)).min())
    ends = _log2_if_positive(np.concatenate([arrays.lower[here], arrays.upper[here]]))
    return min(float(ends.min()), FINEST_WEIGHT_LOG2)


def _log2_if_positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    logs: NDArray[np.float64] = np.log2(np.where(values > 0, values, 1.0))
    return logs
