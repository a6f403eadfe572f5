"""Facts of small circuits, exactly."""

import pytest

from credo import CircuitBuilder, Contaminated, Intervals, Precise, Vertices
from credo.errors import CircuitError

FREE = Intervals([0.2, 0.5], [0.5, 0.8])


@pytest.fixture
def b():
    return CircuitBuilder({"x": 2, "y": 3})


class TestTree:
    def test_shared_indicators_are_harmless(self, b):
        leaf = b.indicator("x", 1)
        assert b.freeze(b.sum([leaf, leaf], FREE)).is_tree

    def test_shared_precise_parts_are_harmless(self, b):
        part = b.sum([b.indicator("x", 0), b.indicator("x", 1)], [0.5, 0.5])
        assert b.freeze(b.sum([part, part], FREE)).is_tree

    @pytest.mark.parametrize("own", [FREE, Vertices([(0.5, 0.5), (0, 1)]), Contaminated([0.5, 0.5], 0.1)])
    def test_shared_credal_leaves_are_not(self, b, own):
        leaf = b.leaf("x", own)
        assert not b.freeze(b.sum([leaf, leaf], [0.5, 0.5])).is_tree

    def test_shared_precise_nodes_above_credal_ones_are_not(self, b):
        part = b.sum([b.sum([b.leaf("x", FREE)], [1])], [1])
        assert not b.freeze(b.sum([part, part], [0.5, 0.5])).is_tree

    @pytest.mark.parametrize("own", [Vertices([(0.25, 0.75)]), Contaminated([0.5, 0.5], 0), Intervals([0.5, 0.5], [0.5, 0.5])])
    def test_sets_of_one_point_are_harmless(self, b, own):
        leaf = b.leaf("x", own)
        circuit = b.freeze(b.sum([leaf, leaf], FREE))
        assert circuit.is_tree
        assert b.freeze(leaf).is_precise

    @pytest.mark.parametrize(
        "own", [Intervals([0.125, 0.5], [0.5, 0.5]), Intervals([0, 0, 1], [1, 1, 1]), Intervals([0], [1]), Contaminated([1], 0.5)]
    )
    def test_intervals_of_which_one_point_is_in_reach_are_precise(self, own):
        b = CircuitBuilder({"x": 2})
        leaf = b.leaf("x", [0.5, 0.5])
        once = b.freeze(b.sum([leaf] * len(own), own))
        assert len(own.extreme_points()) == 1
        assert once.is_precise
        assert once.n_extreme_points == 0
        assert once.log_likelihood([[1]]) == pytest.approx([-0.6931471805599453])
        part = b.sum([leaf] * len(own), own)
        assert b.freeze(b.sum([part, part], FREE)).is_tree

    def test_one_free_set_makes_a_circuit_credal(self, b):
        assert not b.freeze(b.product([b.leaf("x", FREE), b.leaf("y", [0.5, 0.5, 0])])).is_precise


class TestSelective:
    def test_children_told_apart_by_a_column(self, b):
        parts = [b.product([b.indicator("x", code), b.leaf("y", [0.2, 0.3, 0.5])]) for code in (0, 1)]
        assert b.freeze(b.sum(parts, FREE)).is_selective

    def test_children_told_apart_by_sets_of_values(self, b):
        assert b.freeze(b.sum([b.leaf("y", [0.5, 0.5, 0]), b.leaf("y", [0, 0, 1])], [0.5, 0.5])).is_selective

    def test_children_with_a_value_in_common(self, b):
        assert not b.freeze(b.sum([b.leaf("y", [0.5, 0.5, 0]), b.leaf("y", [0, 0.5, 0.5])], [0.5, 0.5])).is_selective

    def test_different_columns_tell_different_pairs_apart(self):
        b = CircuitBuilder({"x": 2, "y": 2})
        rows = [(0, 0), (0, 1), (1, 0)]
        parts = [b.product([b.indicator("x", x), b.indicator("y", y)]) for x, y in rows]
        assert b.freeze(b.sum(parts, [0.2, 0.3, 0.5])).is_selective
        twice = [*parts, b.product([b.indicator("x", 1), b.indicator("y", 0)])]
        assert not b.freeze(b.sum(twice, [0.2, 0.3, 0.25, 0.25])).is_selective

    def test_children_of_weight_zero_do_not_count(self, b):
        leaf = b.leaf("x", [0.5, 0.5])
        assert b.freeze(b.sum([leaf, b.indicator("x", 0)], [1, 0])).is_selective
        assert not b.freeze(b.sum([leaf, b.indicator("x", 0)], Intervals([0.5, 0], [1, 0.5]))).is_selective

    def test_leaves_and_products_are_selective(self, b):
        assert b.freeze(b.leaf("x", FREE)).is_selective
        assert b.freeze(b.product([b.leaf("x", FREE), b.leaf("y", [0.2, 0.3, 0.5])])).is_selective

    def test_a_sum_further_down(self, b):
        inner = b.sum([b.leaf("x", [0.5, 0.5]), b.indicator("x", 0)], [0.5, 0.5])
        assert not b.freeze(b.product([inner, b.indicator("y", 0)])).is_selective


class TestCounts:
    def test_depth(self, b):
        leaf = b.leaf("x", [0.5, 0.5])
        assert b.freeze(leaf).depth == 0
        part = b.sum([leaf], [1])
        assert b.freeze(part).depth == 1
        assert b.freeze(b.sum([b.sum([part], [1]), leaf], [0.5, 0.5])).depth == 3

    def test_a_child_named_twice_is_two_edges(self, b):
        leaf = b.leaf("x", [0.5, 0.5])
        circuit = b.freeze(b.sum([leaf, leaf], [0.5, 0.5]))
        assert (circuit.n_nodes, circuit.n_edges) == (2, 2)

    @pytest.mark.parametrize(
        ("own", "n_parameters", "n_extreme_points"),
        [
            (Precise([0.2, 0.3, 0.5]), 3, 0),
            (Precise([0, 1, 0]), 0, 0),
            (Intervals([0, 1, 0], [0, 1, 0]), 0, 0),
            (Intervals([0.2, 0.3, 0.2], [0.4, 0.55, 0.48]), 3, 3),
            (Vertices([(0.5, 0.5, 0), (0, 0.5, 0.5), (0, 0, 1), (1, 0, 0)]), 3, 4),
            (Vertices([(0.5, 0.5, 0)]), 3, 0),
            (Contaminated([0.2, 0.3, 0.5], 0.1), 3, 3),
            (Contaminated([0.2, 0.3, 0.5], 0), 3, 0),
        ],
    )
    def test_of_one_leaf(self, b, own, n_parameters, n_extreme_points):
        circuit = b.freeze(b.leaf("y", own))
        assert circuit.n_parameters == n_parameters
        assert circuit.n_extreme_points == n_extreme_points

    def test_of_a_whole_circuit(self, b):
        leaves = [b.leaf("y", [0.2, 0.3, 0.5]), b.leaf("y", Contaminated([0.2, 0.3, 0.5], 0.1))]
        part = b.sum(leaves, FREE)
        circuit = b.freeze(b.product([b.sum([b.indicator("x", 0), b.indicator("x", 1)], FREE), part]))
        assert (circuit.n_nodes, circuit.n_edges, circuit.depth) == (7, 6, 2)
        assert circuit.n_parameters == 2 + 3 + 3 + 2
        assert circuit.n_extreme_points == 2 + 3 + 2
        assert circuit.is_complete
        assert circuit.is_decomposable
        assert repr(circuit.arrays) == "CircuitArrays(7 nodes, 6 edges, 2 columns)"


class TestNodes:
    def test_credal_sets_come_back(self, b):
        owns = [Precise([0.5, 0.5]), FREE, Vertices([(0.5, 0.5), (0, 1)])]
        for own in owns:
            assert b.freeze(b.leaf("x", own)).arrays.credal_set(0) == own
        contaminated = b.freeze(b.leaf("x", Contaminated([0.5, 0.5], 0.25))).arrays.credal_set(0)
        assert contaminated.epsilon == pytest.approx(0.25)
        assert contaminated.weights.tolist() == [0.5, 0.5]

    def test_products_have_no_credal_set(self, b):
        circuit = b.freeze(b.product([b.indicator("x", 0)]))
        with pytest.raises(CircuitError, match="product 1 has no credal set"):
            circuit.arrays.credal_set(1)

    def test_nodes_have_names(self, b):
        circuit = b.freeze(b.sum([b.product([b.indicator("x", 0)])], [1]))
        assert [circuit.arrays.name(node) for node in range(3)] == ["leaf 0", "product 1", "sum 2"]
        assert circuit.arrays.root == 2
        assert circuit.arrays.children(2).tolist() == [1]

    def test_arrays_are_read_only(self, b):
        circuit = b.freeze(b.leaf("x", FREE))
        for name, array in circuit.arrays.as_mapping().items():
            assert not array.flags.writeable, name
