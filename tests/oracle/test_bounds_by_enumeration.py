"""Bounds against enumeration: all combinations of vertices in all worlds, on hundreds of small random circuits."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from credo.infer import likelihood
from reference import circuits as ref
from reference import facts
from reference.bounds import best_value, bounds, evidence_of_codes
from reference.credal import Box, Contamination, Hull, Point
from reference.worlds import worlds
from tests.random_circuits import assert_log_bounds, build, enumerate_bounds, random_circuit, random_point, random_set, rows_with_gaps

TREES = [(seed, False) for seed in range(130)]
SHARED = [(seed, True) for seed in range(1000, 1130)]
CASES = TREES + SHARED


@lru_cache(maxsize=4)  # the tests of one circuit run one after the other
def case_of(seed, shared):
    drawn = random_circuit(seed, shared)
    rows = rows_with_gaps(drawn.sizes, most=90, seed=seed)
    expected = enumerate_bounds(drawn, [evidence_of_codes(row, drawn.sizes) for row in rows.tolist()])
    return drawn, drawn.build(), rows, expected


@pytest.fixture(params=CASES, ids=lambda case: f"{'shared' if case[1] else 'tree'}-{case[0]}", scope="module")
def case(request):
    return case_of(*request.param)


class TestRandomCircuits:
    def test_batch(self, case):
        _, circuit, rows, expected = case
        found = circuit.log_bounds(rows)
        assert_log_bounds(found, expected)
        assert (found[:, 0] <= found[:, 1]).all()

    def test_one_row_at_a_time(self, case):
        _, circuit, rows, expected = case
        found = np.concatenate([circuit.log_bounds(row[None]) for row in rows])
        assert_log_bounds(found, expected)
        assert (found[:, 0] <= found[:, 1]).all()

    def test_many_blocks(self, case):
        drawn, _, rows, expected = case
        circuit = drawn.build()
        circuit.__dict__["_program"] = replace(circuit._program, block=7)
        assert len(rows) < 7 or len(rows) % 7, "the last block should be smaller"
        assert_log_bounds(circuit.log_bounds(rows), expected)

    def test_the_logarithmic_pass(self, case):
        drawn, circuit, rows, expected = case
        some = slice(0, 20)
        for row, limits in zip(rows[some].tolist(), expected[some], strict=True):
            flags = [code < 0 or code == k for code, size in zip(row, drawn.sizes, strict=True) for k in range(size)]
            found = [likelihood.node_log_values(circuit.arrays, np.array(flags, dtype=np.uint8), side)[0][-1] for side in (0, 1)]
            assert_log_bounds(np.minimum([found], 0.0), limits[None])

    def test_the_solver_by_vertices(self, case):
        _, circuit, rows, expected = case
        assert_log_bounds(circuit.log_bounds(rows, solver="vertices"), expected)

    def test_sets_of_values(self, case):
        drawn, circuit, _, _ = case
        rng = np.random.default_rng(7)
        sets = [[set(np.flatnonzero(rng.random(size) < 0.6).tolist()) or {0} for size in drawn.sizes] for _ in range(8)]
        expected = enumerate_bounds(drawn, sets)
        for allowed, (low, high) in zip(sets, expected, strict=True):
            answer = circuit.probability(dict(zip(drawn.names, allowed, strict=True)))
            assert answer.exact
            assert answer.lower <= answer.upper
            assert answer.lower == pytest.approx(low, abs=1e-9)
            assert answer.upper == pytest.approx(high, abs=1e-9)

    def test_everything_missing_has_probability_one(self, case):
        drawn, circuit, _, _ = case
        np.testing.assert_allclose(circuit.log_bounds([[-1] * len(drawn.sizes)]), 0, atol=1e-9)
        assert tuple(circuit.probability({})) == pytest.approx((1, 1), abs=1e-9)

    def test_the_reference_by_recursion_agrees(self, case):
        drawn, _, rows, expected = case
        for row, limits in zip(rows[:10].tolist(), expected[:10], strict=True):
            assert bounds(drawn.root, evidence_of_codes(row, drawn.sizes)) == pytest.approx(tuple(limits), abs=1e-12)

    def test_facts(self, case):
        drawn, circuit, _, _ = case
        assert circuit.is_tree == facts.is_tree(drawn.root)
        assert circuit.is_precise == facts.is_precise(drawn.root)
        assert circuit.is_selective == facts.is_selective(drawn.root)
        assert circuit.depth == facts.depth(drawn.root)
        assert circuit.n_nodes == len(ref.nodes(drawn.root))
        assert circuit.n_edges == sum(len(ref.children(node)) for node in ref.nodes(drawn.root))

    def test_being_selective_holds_in_every_world(self, case):
        drawn, circuit, _, _ = case
        several = 0
        for world in worlds(drawn.sizes) if circuit.is_selective else ():
            evidence = evidence_of_codes(world, drawn.sizes)
            for node in ref.nodes(drawn.root):
                if isinstance(node, ref.Sum):
                    positive = [best_value(child, evidence, True) > 0 for child in facts.possible_children(node)]
                    several += sum(positive) > 1
        assert several == 0


@pytest.mark.parametrize(("seed", "shared"), TREES[:25] + SHARED[:25])
def test_the_solver_by_linear_programs(seed, shared):
    drawn, circuit, rows, expected = case_of(seed, shared)
    some = [0, *range(1, len(rows), max(1, len(rows) // 3))][:4]
    found = circuit.log_bounds(rows[some], solver="lp")
    # HiGHS has tolerances of its own, which narrow intervals make visible.
    np.testing.assert_allclose(np.exp(found), expected[some], rtol=0, atol=1e-9 if _widths_are_usual(drawn) else 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("case", [TREES[0], TREES[5], SHARED[3], SHARED[8]])
def test_more_rows_than_a_block_holds(case):
    _, circuit, rows, expected = case_of(*case)
    many = np.random.default_rng(1).integers(len(rows), size=circuit._program.block + 37)
    assert_log_bounds(circuit.log_bounds(rows[many]), expected[many])


def test_rows_beyond_one_conversion(monkeypatch):
    _, circuit, rows, expected = case_of(*TREES[2])
    monkeypatch.setattr(likelihood, "CHUNK_ROWS", 11)
    assert len(rows) > 11
    assert_log_bounds(circuit.log_bounds(rows), expected)


@pytest.mark.parametrize("n_children", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", [Point, Box, Hull, Contamination])
@pytest.mark.parametrize("shared", [False, True])
def test_every_kind_of_set_with_every_number_of_children(n_children, kind, shared):
    rng = np.random.default_rng(100 * n_children + 10 * shared)
    tried = 0
    while tried < 4:
        own = random_set(rng, n_children)
        if not isinstance(own, kind):
            continue
        tried += 1
        leaves = [ref.Leaf(0, random_set(rng, 3) if i % 2 else Point(random_point(rng, 3))) for i in range(n_children)]
        if shared:
            leaves[-1] = leaves[0]
        root = ref.Sum(tuple(leaves), own)
        rows = [[-1], [0], [1], [2]]
        expected = [bounds(root, evidence_of_codes(row, [3])) for row in rows]
        assert_log_bounds(build(root, [3]).log_bounds(rows), np.array(expected))


def _widths_are_usual(drawn):
    for node in ref.nodes(drawn.root):
        if isinstance(node, ref.Product) or isinstance(node.credal_set, Point | Hull):
            continue
        own = node.credal_set
        widths = np.subtract(own.upper, own.lower) if isinstance(own, Box) else np.array([own.epsilon])
        if ((widths > 0) & (widths < 1e-5)).any():
            return False
    return True
