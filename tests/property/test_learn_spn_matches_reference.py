"""The compiled learner and its plain definition return the same tree, to the last count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo.learn.clustering import HardEM
from credo.learn.grow import Grower
from credo.learn.independence import GTest
from credo.learn.slices import CodeTable
from credo.learn.trees import Leaves, Node, Product
from reference import learn_spn as reference

FEW = settings(max_examples=60, deadline=None)


def random_table(seed: int, rows: int, n_values: list[int], classes: int = 3, missing: float = 0.0) -> np.ndarray:
    """Draw a table with clusters of rows, a constant column where a column has one value, and some equal rows."""
    rng = np.random.default_rng(seed)
    favourite = np.array([rng.integers(0, n_values) for _ in range(classes)])
    table = favourite[rng.integers(0, classes, rows)]
    noise = rng.random(table.shape) < 0.25
    table[noise] = rng.integers(0, n_values, table.shape)[noise]
    table[rng.random(rows) < 0.2] = table[0]
    table[rng.random(table.shape) < missing] = -1
    return table.astype(np.int8)


def as_tuples(node: Node, n_values: list[int]) -> tuple[Any, ...]:
    """Write a tree the way the reference does."""
    if isinstance(node, Leaves):
        ends = np.cumsum([n_values[column] for column in node.columns])[:-1]
        own = {int(column): counts.tolist() for column, counts in zip(node.columns, np.split(node.counts, ends), strict=True)}
        return "leaves", own if len(node.columns) else {}
    children = [as_tuples(child, n_values) for child in node.children]
    if isinstance(node, Product):
        return "product", as_tuples(node.leaves, n_values)[1], children
    return "sum", node.counts.tolist(), children


def learned(table: np.ndarray, n_values: list[int], chosen: reference.Settings, n_jobs: int = 1) -> tuple[Any, ...]:
    """Learn a tree with the compiled learner."""
    learner = Grower(
        independence=GTest(g_factor=chosen.g_factor, counts=chosen.counts),
        clustering=HardEM(
            cluster_penalty=chosen.cluster_penalty,
            restarts=chosen.restarts,
            passes=chosen.passes,
            carry_threshold=chosen.carry_threshold,
        ),
        fewest_rows=chosen.fewest_rows,
        random_state=chosen.random_state,
        n_jobs=n_jobs,
    )
    return as_tuples(learner.learn(CodeTable(table, np.array(n_values))), n_values)


@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 40),
    n_values=st.lists(st.integers(1, 5), min_size=1, max_size=6),
    g_factor=st.sampled_from([0.5, 2.0, 10.0]),
    cluster_penalty=st.sampled_from([0.05, 0.2, 0.6, 1.5]),
    carry_threshold=st.booleans(),
    random_state=st.integers(0, 3),
)
@FEW
def test_learned_tree_is_the_reference_tree(seed, rows, n_values, g_factor, cluster_penalty, carry_threshold, random_state):  # type: ignore[no-untyped-def]
    table = random_table(seed, rows, n_values)
    chosen = reference.Settings(
        g_factor=g_factor,
        cluster_penalty=cluster_penalty,
        carry_threshold=carry_threshold,
        random_state=random_state,
        restarts=3,
        passes=2,
    )
    assert learned(table, n_values, chosen) == reference.learn(table.tolist(), n_values, chosen)


@pytest.mark.parametrize("carry_threshold", [False, True])
def test_published_settings_on_a_larger_table(carry_threshold):  # type: ignore[no-untyped-def]
    n_values = [2] * 8
    table = random_table(7, 120, n_values, classes=6)
    chosen = reference.Settings(g_factor=2.0, restarts=3, carry_threshold=carry_threshold)
    tree = learned(table, n_values, chosen)
    assert tree[0] == "sum"
    assert tree == reference.learn(table.tolist(), n_values, chosen)


def test_number_of_workers_does_not_matter():  # type: ignore[no-untyped-def]
    n_values = [2, 3, 2, 4, 2, 2, 3, 5]
    table = random_table(3, 600, n_values, classes=8)
    chosen = reference.Settings(g_factor=1.0, cluster_penalty=0.3)
    assert learned(table, n_values, chosen, n_jobs=1) == learned(table, n_values, chosen, n_jobs=2)


@pytest.mark.parametrize(
    "table",
    [
        [[1]],
        [[1, 0, 2]],
        [[0], [1], [1], [0], [1], [0]],
        [[0, 1, 2]] * 9,
        [[0, 1, 0], [1, 0, 2]] * 5,
        [[0, 0, 0], [1, 0, 2], [0, 1, 1], [1, 1, 1]],
    ],
)
def test_smallest_tables(table):  # type: ignore[no-untyped-def]
    n_values = [2, 2, 3][: len(table[0])]
    chosen = reference.Settings()
    assert learned(np.array(table, np.int8), n_values, chosen) == reference.learn(table, n_values, chosen)


@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(5, 150),
    n_values=st.lists(st.integers(1, 4), min_size=2, max_size=5),
    missing=st.sampled_from([0.0, 0.02, 0.3, 0.9]),
    g_factor=st.sampled_from([0.1, 1.0, 4.0]),
    counts=st.sampled_from(["sums", "printed"]),
)
@FEW
def test_dependence_is_the_reference_dependence(seed, rows, n_values, missing, g_factor, counts):  # type: ignore[no-untyped-def]
    table = random_table(seed, rows, n_values, missing=missing)
    whole = CodeTable(table, np.array(n_values)).whole()
    chosen = reference.Settings(g_factor=g_factor, counts=counts)
    expected = reference.dependence(table.tolist(), range(rows), range(len(n_values)), n_values, chosen)
    assert GTest(g_factor=g_factor, counts=counts).dependence(whole).tolist() == expected
