"""LearnCSPN, compiled, and its plain definition return the same tree and the same circuit."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import LEAF, PRODUCT
from credo.learn.clustering import HardEM
from credo.learn.freeze import freeze
from credo.learn.grow import Grower
from credo.learn.independence import GTest
from credo.learn.overlapping import OverlappingEM
from credo.learn.slices import CodeTable
from credo.learn.trees import Leaves, Node, Product
from reference import learn_spn, levray_belle
from reference.levray_belle import Settings

MANY = settings(max_examples=4 * settings().max_examples)


def table_of(
    rng: np.random.Generator,
    rows: int,
    n_values: list[int],
    by_cell: float = 0.0,
    by_row: float = 0.0,
    noise: float = 0.2,
    strange: tuple[str, ...] = (),
) -> np.ndarray:
    """Draw rows around three profiles; cells are missing anywhere or in some rows, and what is `strange` comes on top."""
    profiles = np.array([rng.integers(0, n_values) for _ in range(3)])
    table = profiles[rng.integers(0, 3, rows)]
    other = rng.random(table.shape) < noise
    table[other] = rng.integers(0, n_values, table.shape)[other]
    if "equal rows" in strange:
        table[rng.random(rows) < 0.4] = table[0]
    if "constant column" in strange:
        table[:, rng.integers(len(n_values))] = 1
    share = rng.random(rows) * (rng.random(rows) < by_row)
    gaps = (rng.random(table.shape) < by_cell) | (rng.random(table.shape) < share[:, None])
    if "gaps in few columns" in strange:
        gaps[:, rng.random(len(n_values)) < 0.6] = False
    table[gaps] = -1
    if "empty column" in strange:
        table[:, rng.integers(len(n_values))] = -1
    if "empty rows" in strange:
        table[rng.random(rows) < 0.15] = -1
    if "no complete row" in strange:
        table[np.arange(rows), rng.integers(0, len(n_values), rows)] = -1
    return table.astype(np.int8)


STRANGE = ["gaps in few columns", "equal rows", "constant column", "empty column", "empty rows", "no complete row"]
SOME_GAPS = [(0.03, 0.0), (0.1, 0.0), (0.0, 0.1), (0.02, 0.2), (0.0, 0.4), (0.3, 0.0), (0.7, 0.0), (0.0, 0.95)]


def case_of(seed: int, gaps: bool = True) -> tuple[np.ndarray, list[int], Settings]:
    """Draw a table and settings, most of them such that there are several levels of clusters."""
    rng = np.random.default_rng(seed)

    def one_of(*choices: Any) -> Any:
        return choices[rng.integers(len(choices))]

    n_values = rng.integers(2, 6, one_of(1, 2, 3, 4, 5, 5)).tolist()
    by_cell, by_row = one_of(*SOME_GAPS) if gaps else (0.0, 0.0)
    strange = one_of((), (), (), (), *((name,) for name in (STRANGE if gaps else STRANGE[:3])))
    rows = int(rng.integers(one_of(1, 21, 21), 31))
    table = table_of(rng, rows, n_values, by_cell, by_row, one_of(0.1, 0.3, 0.7), strange)
    chosen = Settings(
        g_factor=one_of(0.1, 0.5, 2.0, 10.0),
        counts=one_of("sums", "printed"),
        cluster_penalty=one_of(0.05, 0.2, 0.6, 1.5),
        restarts=one_of(1, 2, 3),
        passes=one_of(1, 2, 3),
        carry_threshold=one_of(False, False, True),
        fewest_rows=one_of(0, 1, 1, 2, 4),
        random_state=one_of(0, 1, 2),
        most_clusters=one_of(1, 2, 16, None),
    )
    return table, n_values, chosen


# One number for all: examples that share some choices with earlier ones, as hypothesis likes them, would hardly meet anything new.
seeds = st.integers(0, 2**31)
with_gaps, without_gaps = seeds.map(case_of), seeds.map(lambda seed: case_of(seed, gaps=False))


def learned(table: np.ndarray, n_values: list[int], chosen: Settings, n_jobs: int = 1) -> Node:
    """Learn a tree with the compiled learner."""
    of_both = {name: getattr(chosen, name) for name in ("cluster_penalty", "restarts", "passes", "carry_threshold")}
    learner = Grower(
        independence=GTest(g_factor=chosen.g_factor, counts=chosen.counts),  # type: ignore[arg-type]
        clustering=HardEM(**of_both),
        overlapping=OverlappingEM(**of_both, most_clusters=chosen.most_clusters),
        fewest_rows=chosen.fewest_rows,
        random_state=chosen.random_state,
        n_jobs=n_jobs,
    )
    return learner.learn(CodeTable(table, np.array(n_values)))


def as_tuples(node: Node, n_values: list[int]) -> tuple[Any, ...]:
    """Write a tree the way the reference does."""
    if isinstance(node, Leaves):
        ends = np.cumsum([0, *(n_values[column] for column in node.columns)])
        missing = np.zeros(len(node.columns), int) if node.missing is None else node.missing
        assert ends[-1] == len(node.counts)
        assert len(missing) == len(node.columns) == len(set(node.columns.tolist()))
        return "leaves", {
            int(column): (node.counts[start:stop].tolist(), int(gaps))
            for column, start, stop, gaps in zip(node.columns, ends, ends[1:], missing, strict=False)
        }
    children = [as_tuples(child, n_values) for child in node.children]
    if isinstance(node, Product):
        return "product", as_tuples(node.leaves, n_values)[1], children
    as_list = [None if counts is None else counts.tolist() for counts in (node.counts, node.possible, node.best)]
    return "sum", *as_list, children


def precise(tree: tuple[Any, ...]) -> tuple[Any, ...]:
    """Write a tree of LearnSPN as one of LearnCSPN."""
    if tree[0] == "sum":
        return "sum", tree[1], None, None, [precise(child) for child in tree[2]]
    leaves = {column: (counts, 0) for column, counts in tree[1].items()}
    return ("product", leaves, [precise(child) for child in tree[2]]) if tree[0] == "product" else ("leaves", leaves)


def assert_same_circuit(arrays: CircuitArrays, expected: tuple[Any, ...]) -> None:
    """Compare node by node from the root; the leaves of a product may be in any order."""
    met = Counter[int]()

    def key(node: int) -> tuple[bool, int]:
        return bool(arrays.kind[node] != LEAF), int(arrays.column[node])

    def compare(node: int, wanted: tuple[Any, ...]) -> None:
        met[node] += 1
        children = arrays.children(node).tolist()
        if wanted[0] == "product":
            assert arrays.kind[node] == PRODUCT
            children, below = sorted(children, key=key), wanted[1]
        else:
            assert (arrays.kind[node] == LEAF) == (wanted[0] == "leaf")
            if wanted[0] == "leaf":
                assert arrays.column[node] == wanted[1]
                intervals, below = wanted[2], []
            else:
                intervals, below = wanted[1:]
            here = arrays.weights(node)
            found = np.stack([arrays.lower[here], arrays.upper[here], arrays.centre[here]], axis=1)
            np.testing.assert_allclose(found, np.array(intervals, float), rtol=0, atol=1e-12)
            # One point may come back as wide as rounding and so as free, but never the other way round.
            assert arrays.is_free[node] >= any(lower < upper for lower, upper, _ in intervals)
        for child, part in zip(children, below, strict=True):
            compare(child, part)

    compare(arrays.root, expected)
    assert met == Counter(range(arrays.n_nodes))  # every node once: this, too, says that it is a tree


def assert_same(table: np.ndarray, n_values: list[int], chosen: Settings, n_jobs: int = 1, smoothing: float = 0.0) -> tuple[Any, ...]:
    """Compare the trees and the circuits; return the tree of the reference."""
    tree = learned(table, n_values, chosen, n_jobs)
    expected = levray_belle.learn(table.tolist(), n_values, chosen)
    assert as_tuples(tree, n_values) == expected
    arrays = freeze(tree, n_values, smoothing)
    assert arrays.violations == []
    assert arrays.is_tree
    assert_same_circuit(arrays, levray_belle.circuit(expected, smoothing))
    return expected


@given(with_gaps, st.sampled_from([0.0, 0.1, 1.0]))
@MANY
def test_tree_and_circuit_are_those_of_the_reference(case, smoothing):  # type: ignore[no-untyped-def]
    assert_same(*case, smoothing=smoothing)


@given(with_gaps | without_gaps)
def test_number_of_workers_does_not_matter(case):  # type: ignore[no-untyped-def]
    alone, shared = (as_tuples(learned(*case, n_jobs), case[1]) for n_jobs in (1, 2))
    assert alone == shared


@given(without_gaps)
def test_without_gaps_all_of_it_is_learn_spn(case):  # type: ignore[no-untyped-def]
    table, n_values, chosen = case
    assert assert_same(table, n_values, chosen) == precise(learn_spn.learn(table.tolist(), n_values, chosen))


COMPLETE = [[0, 0, 0], [1, 1, 2], [0, 0, 1], [1, 1, 1], [0, 1, 0], [1, 0, 2]]


@pytest.mark.parametrize(
    "table",
    [
        [[1]],
        [[-1]],
        [[1, 0, 2]],
        [[1, -1, 2]],
        [[-1, -1, -1]],
        [[0], [1], [-1], [0], [1], [0], [-1]],  # one column
        [[-1, -1, -1]] * 8,
        [[-1, 0, 1], [0, -1, 2], [1, 1, -1]] * 4,  # no complete row
        [[0, 1, 2]] * 6 + [[0, -1, 2]] * 3,  # equal complete rows
        [[0, -1, 2]] * 9,  # equal rows, none complete
        [[*row[:2], -1] for row in COMPLETE],  # a column that is missing in all rows
        [[*row[:2], 1] for row in COMPLETE] + [[0, -1, 1]],  # a constant column
        [*COMPLETE, [-1, -1, -1]],  # nothing known of a row
        [*COMPLETE, *[[-1, -1, -1]] * 5],
        [*COMPLETE, [0, 0, -1], [0, -1, 0], [-1, 0, 0]],
        [*COMPLETE[:4], [0, 0, -1]],  # as many complete rows as are too few, and one more
        [*COMPLETE[:5], [0, 0, -1]],
        [[0, 0, 0]] * 5 + [[1, 1, 1]] * 5 + [[0, 0, -1]],  # where the only incomplete row belongs is certain
        [[0, 0, 0]] * 5 + [[1, 1, 1]] * 5 + [[0, 0, -1], [-1, 1, 1]],
        [[0, 0, 0]] * 5 + [[1, 1, 1]] * 5 + [[-1, -1, 0], [-1, -1, 1]] * 3,
    ],
)
@pytest.mark.parametrize("chosen", [Settings(restarts=3), Settings(restarts=3, g_factor=0.1, fewest_rows=1, carry_threshold=True)])
def test_smallest_tables(table, chosen):  # type: ignore[no-untyped-def]
    n_values = [2, 2, 3][: len(table[0])]
    assert_same(np.array(table, np.int8), n_values, chosen)


def test_all_that_makes_the_published_learner_different_is_met(monkeypatch):  # type: ignore[no-untyped-def]
    met = Counter[str]()
    settled = learn_spn.settled

    def watched(*args: Any) -> Any:
        found = settled(*args)
        met["a threshold that fits" if found[2] else "no threshold fits"] += 1
        return found

    monkeypatch.setattr(learn_spn, "settled", watched)
    for seed in range(24):
        rng = np.random.default_rng(seed)
        n_values = rng.integers(2, 4, 5).tolist()
        table = table_of(rng, 40, n_values, by_cell=[0.0, 0.01, 0.0][seed % 3], by_row=[0.05, 0.0, 0.2][seed % 3])
        chosen = Settings(
            g_factor=0.1,
            cluster_penalty=0.3,
            restarts=2,
            passes=2,
            carry_threshold=seed % 5 == 4,
            fewest_rows=1,
            random_state=seed,
            most_clusters=[16, 1][seed % 2],
        )
        met.update(set(seen(assert_same(table, n_values, chosen, n_jobs=1 + seed % 2))))
    wanted = {
        "interval sum under root": 20,
        "interval sum under interval sum": 8,
        "interval sum under product": 8,
        "product under interval sum": 8,
        "precise sum under product": 8,
        "precise sum under interval sum": 1,
        "a row in several clusters": 10,
        "a cluster that is no row's best": 1,
        "leaves with gaps": 20,
        "depth 2": 16,
        "depth 4": 6,
        "a threshold that fits": 40,
        "no threshold fits": 10,
    }
    assert {what: times for what, times in wanted.items() if met[what] < times} == {}


def seen(tree: tuple[Any, ...], above: str = "root", depth: int = 0) -> list[str]:
    """Name what is in a tree: how deep it is, and each node with the one above it."""
    if tree[0] == "leaves":
        return ["leaves with gaps"] if any(missing for _, missing in tree[1].values()) else []
    kind, names = tree[0], []
    if kind == "sum":
        kind = "precise sum" if tree[2] is None else "interval sum"
        if tree[2] is not None and sum(tree[2]) > sum(tree[3]):
            names.append("a row in several clusters")
        if tree[2] is not None and 0 in tree[3]:
            names.append("a cluster that is no row's best")
    return [*names, f"{kind} under {above}", f"depth {depth}", *(name for child in tree[-1] for name in seen(child, kind, depth + 1))]
