"""Published numbers, written down: circuits, credal sets, extreme points, weights from counts."""

import numpy as np
import pytest

from credo import CircuitBuilder, Contaminated, Intervals, Precise, Vertices
from reference import credal
from reference.circuits import from_arrays
from reference.worlds import enumerated_conditional, values_of_all_networks


def paper_circuit(root_weights, left_weights, right_weights, second_weights):
    """Two products of a sum over X1 each and one sum over X2 that they share."""
    b = CircuitBuilder({"X1": 2, "X2": 2})
    x1, not_x1, x2, not_x2 = b.indicator("X1", 1), b.indicator("X1", 0), b.indicator("X2", 1), b.indicator("X2", 0)
    second = b.sum([x2, not_x2], second_weights)
    left = b.product([b.sum([x1, not_x1], left_weights), second])
    right = b.product([b.sum([x1, not_x1], right_weights), second])
    return b.freeze(b.sum([left, right], root_weights))


@pytest.fixture(scope="module")
def precise_example():
    return paper_circuit([0.7, 0.3], [0.4, 0.6], [0.2, 0.8], [0.9, 0.1])


@pytest.fixture(scope="module")
def credal_example():
    return paper_circuit(
        Intervals([0.1, 0.5], [0.5, 0.9]),
        Vertices([(0.3, 0.7), (0.4, 0.6)]),
        Intervals([0.57, 0.16], [0.84, 0.43]),
        Vertices([(0.22, 0.78), (0.5, 0.5)]),
    )


PRECISE = {(1, 1): 0.306, (1, 0): 0.034, (0, 1): 0.594, (0, 0): 0.066}
CREDAL = {
    (1, 1): (0.0957, 0.398),
    (1, 0): (0.2175, 0.62088),
    (0, 1): (0.04488, 0.2825),
    (0, 0): (0.102, 0.4407),
    (1, -1): (0.435, 0.796),
    (-1, 1): (0.22, 0.5),
}


class TestPreciseExample:
    @pytest.mark.parametrize(("row", "probability"), PRECISE.items())
    def test_every_world(self, precise_example, row, probability):
        assert np.exp(precise_example.log_likelihood([row])) == pytest.approx([probability], abs=1e-15)
        assert tuple(precise_example.probability({"X1": row[0], "X2": row[1]})) == pytest.approx((probability, probability), abs=1e-15)
        assert np.exp(precise_example.log_bounds([row])[0]) == pytest.approx([probability, probability], abs=1e-15)

    def test_it_is_a_precise_tree(self, precise_example):
        assert precise_example.is_precise
        assert precise_example.is_tree, "shared nodes with a single point are harmless"


class TestCredalExample:
    @pytest.mark.parametrize(("row", "limits"), CREDAL.items())
    @pytest.mark.parametrize("solver", ["greedy", "vertices", "lp"])
    def test_bounds(self, credal_example, row, limits, solver):
        assert np.exp(credal_example.log_bounds([row], solver=solver)[0]) == pytest.approx(limits, abs=1e-12)

    @pytest.mark.parametrize(("row", "limits"), CREDAL.items())
    def test_probability(self, credal_example, row, limits):
        event = {name: code for name, code in zip(("X1", "X2"), row, strict=True) if code >= 0}
        answer = credal_example.probability(event)
        assert tuple(answer) == pytest.approx(limits, abs=1e-12)
        assert answer.exact

    def test_all_at_once(self, credal_example):
        assert np.exp(credal_example.log_bounds(list(CREDAL))) == pytest.approx(np.array(list(CREDAL.values())), abs=1e-12)

    def test_its_shape(self, credal_example):
        assert not credal_example.is_tree, "the sum over X2 is shared"
        assert not credal_example.is_precise
        assert not credal_example.is_selective
        assert (credal_example.n_nodes, credal_example.n_edges, credal_example.depth) == (10, 12, 3)
        assert credal_example.n_parameters == 8
        assert credal_example.n_extreme_points == 8

    @pytest.mark.parametrize(
        ("event", "given", "limits"),
        [(([1], [0, 1]), ([0, 1], [1]), (0.435, 0.796)), (([0, 1], [1]), ([1], [0, 1]), (0.22, 0.5))],
        ids=["X1 given X2", "X2 given X1"],
    )
    def test_conditionals_by_enumeration(self, credal_example, event, given, limits):
        values = values_of_all_networks(from_arrays(credal_example.arrays), (2, 2))
        assert len(values) == 16
        assert enumerated_conditional(values, event, given, (2, 2)) == pytest.approx(limits, abs=1e-12)


class TestLocalProgram:
    intervals = Intervals([0, 0.1, 0.1], [0.4, 0.55, 0.65])
    values = (0.4, 0.5, 0.1)

    @pytest.mark.parametrize(
        ("maximum", "value", "point"), [(True, 0.425, (0.35, 0.55, 0.1)), (False, 0.215, (0.25, 0.1, 0.65))], ids=["maximum", "minimum"]
    )
    def test_best_point(self, maximum, value, point):
        best = self.intervals.best_point(self.values, maximum=maximum)
        assert best == pytest.approx(point, abs=1e-15)
        assert best @ self.values == pytest.approx(value, abs=1e-15)
        assert credal.best_sum(credal.Box((0, 0.1, 0.1), (0.4, 0.55, 0.65)), self.values, maximum) == pytest.approx(value, abs=1e-15)

    @pytest.mark.parametrize("solver", ["greedy", "vertices", "lp"])
    def test_in_a_circuit(self, solver):
        b = CircuitBuilder({"x": 2})
        leaves = [b.leaf("x", [1 - value, value]) for value in self.values]
        circuit = b.freeze(b.sum(leaves, self.intervals))
        assert np.exp(circuit.log_bounds([[1]], solver=solver)[0]) == pytest.approx((0.215, 0.425), abs=1e-12)


SIX = [(0.4, 0.4, 0.2), (0.4, 0.3, 0.3), (0.25, 0.55, 0.2), (0.2, 0.55, 0.25), (0.22, 0.3, 0.48), (0.2, 0.32, 0.48)]
THREE = [(0.4, 0.4, 0.2), (0.2, 0.55, 0.25), (0.22, 0.3, 0.48)]


class TestExtremePoints:
    intervals = Intervals([0.2, 0.3, 0.2], [0.4, 0.55, 0.48])

    def test_all_six(self):
        assert self.intervals.extreme_points() == pytest.approx(np.array(sorted(SIX)), abs=1e-12)

    def test_the_limited_three(self):
        assert self.intervals.limited_extreme_points() == pytest.approx(np.array(THREE), abs=1e-12)

    def test_the_centre_is_the_mean_of_the_three(self):
        assert self.intervals.centre == pytest.approx(np.mean(THREE, axis=0), abs=1e-12)

    def test_the_reference_finds_them_too(self):
        lower, upper = (0.2, 0.3, 0.2), (0.4, 0.55, 0.48)
        assert np.array(sorted(credal.extreme_points(lower, upper))) == pytest.approx(np.array(sorted(SIX)), abs=1e-12)
        assert np.array(credal.limited_extreme_points(lower, upper)) == pytest.approx(np.array(THREE), abs=1e-12)


class TestWeightsFromCounts:
    def test_leaf_of_a_column_with_a_gap(self):
        # Rows 101, 001, 1?1, ?10: the first column is 1 twice, 0 once and missing once.
        intervals = Intervals.from_counts([1, 2], missing=1)
        assert (intervals.lower[1], intervals.upper[1]) == (0.5, 0.75)
        assert (intervals.lower[0], intervals.upper[0]) == (0.25, 0.5)

    @pytest.mark.parametrize("kind", [Vertices, Contaminated])
    def test_the_other_kinds_have_the_same_hull(self, kind):
        hull = kind.from_counts([1, 2], missing=1).hull()
        assert hull.lower == pytest.approx([0.25, 0.5])
        assert hull.upper == pytest.approx([0.5, 0.75])

    def test_without_gaps_every_kind_is_the_proportions(self):
        for kind in (Precise, Intervals, Vertices, Contaminated):
            hull = kind.from_counts([10, 30]).hull()
            assert hull.lower == pytest.approx([0.25, 0.75])
            assert hull.upper == pytest.approx([0.25, 0.75])

    def test_tightening_eighty_rows_in_five_clusters(self):
        # 50 complete rows, 10 of them in the first cluster; all 30 incomplete rows in the first cluster only.
        lower = np.array([10, 10, 10, 10, 10]) / 80
        upper = lower + np.array([30, 0, 0, 0, 0]) / 80
        intervals = Intervals(lower, upper)
        assert (intervals.lower[0], intervals.upper[0]) == (0.125, 0.5)
        tight = intervals.tightened()
        assert (tight.lower[0], tight.upper[0]) == pytest.approx((0.5, 0.5), abs=1e-15)
        assert tight.lower[1:] == pytest.approx([0.125] * 4)
        assert tight.upper[1:] == pytest.approx([0.125] * 4)
