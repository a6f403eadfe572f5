"""Codes and events: what is accepted, and the messages for what is not."""

import numpy as np
import pytest

from credo import CircuitBuilder, CredoError, Intervals
from credo.errors import CircuitError, EvidenceError


@pytest.fixture(scope="module")
def circuit():
    b = CircuitBuilder({"age": 3, "smoker": ["no", "yes"]})
    return b.freeze(b.product([b.leaf("age", [0.5, 0.25, 0.25]), b.leaf("smoker", Intervals([0.6, 0.2], [0.8, 0.4]))]))


class TestCodes:
    @pytest.mark.parametrize(
        ("codes", "parts"),
        [
            ([[3, 0]], ["row 0", "'age'", "3", "0 to 2"]),
            ([[0, 0], [0, 2]], ["row 1", "'smoker'", "2", "0 to 1", "-1 for missing"]),
            ([[0, -2]], ["row 0", "'smoker'", "-2"]),
            ([[0, 10**6]], ["1000000"]),
            (np.array([[0, 2**63]], dtype=np.uint64), [str(2**63)]),
            ([[0, 0, 0]], ["(rows, 2)", "(1, 3)", "age, smoker"]),
            ([[0]], ["(rows, 2)", "(1, 1)"]),
            ([0, 0], ["(rows, 2)", "(2,)"]),
            (0, ["(rows, 2)", "()"]),
            ([[[0, 0]]], ["(1, 1, 2)"]),
            ([[0.0, 1.0]], ["whole numbers", "float64"]),
            ([[np.nan, 1.0]], ["whole numbers", "-1 for missing", "float64"]),
            ([["0", "1"]], ["whole numbers"]),
            ([[None, 1]], ["whole numbers", "object"]),
            ([[0, 1], [0]], ["(rows, 2)"]),
        ],
    )
    def test_what_is_refused(self, circuit, codes, parts):
        with pytest.raises(EvidenceError) as caught:
            circuit.log_bounds(codes)
        assert isinstance(caught.value, CredoError)
        for part in parts:
            assert part in str(caught.value)

    @pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64, np.bool_])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_any_whole_numbers_will_do(self, circuit, dtype, order):
        codes = np.array([[0, 1], [1, 0]]).astype(dtype, order=order)
        assert np.exp(circuit.log_bounds(codes)) == pytest.approx(np.array([[0.1, 0.2], [0.15, 0.2]]))

    def test_views_of_other_arrays(self, circuit):
        table = np.arange(24).reshape(4, 6) % 2
        assert np.array_equal(circuit.log_bounds(table[::2, 1::3]), circuit.log_bounds(table[::2, 1::3].copy()))

    def test_codes_are_not_changed(self, circuit):
        codes = np.array([[0, -1], [2, 1]])
        circuit.log_bounds(codes)
        assert codes.tolist() == [[0, -1], [2, 1]]

    @pytest.mark.parametrize("codes", [np.empty((0, 2)), np.empty((0, 2), dtype=int)])
    @pytest.mark.parametrize("solver", ["greedy", "vertices", "lp"])
    def test_no_rows_at_all(self, circuit, codes, solver):
        assert circuit.log_bounds(codes, solver=solver).shape == (0, 2)

    def test_unknown_solvers(self, circuit):
        with pytest.raises(EvidenceError, match=r"'greedy', 'vertices', 'lp'.*'simplex'"):
            circuit.log_bounds([[0, 0]], solver="simplex")

    def test_many_columns_are_not_all_named(self):
        b = CircuitBuilder({f"x{i}": 2 for i in range(20)})
        wide = b.freeze(b.product([b.leaf(f"x{i}", [0.5, 0.5]) for i in range(20)]))
        with pytest.raises(EvidenceError, match=r"x5, \.\.\. 20 in all"):
            wide.log_bounds([[0]])

    def test_a_credal_circuit_has_no_log_likelihood(self, circuit):
        with pytest.raises(CircuitError, match="log_bounds"):
            circuit.log_likelihood([[0, 0]])


class TestEvents:
    @pytest.mark.parametrize(
        ("event", "parts"),
        [
            ({"smoker": "maybe"}, ["'smoker'", "'maybe'", "no, yes"]),
            ({"smoker": 1}, ["'smoker'", "1", "no, yes"]),
            ({"age": 3}, ["'age'", "3", "0 to 2"]),
            ({"age": -1}, ["'age'", "-1"]),
            ({"age": 1.5}, ["'age'", "1.5"]),
            ({"age": "1"}, ["'age'", "'1'"]),
            ({"height": 1}, ["'height'", "age, smoker"]),
            ({0: 1}, ["0", "age, smoker"]),
            ({"age": []}, ["'age'", "empty set"]),
            ({"smoker": set()}, ["'smoker'", "empty set"]),
            ({"smoker": {"no", "maybe"}}, ["'smoker'", "'maybe'"]),
            ({"age": [0, None]}, ["'age'", "None"]),
            ({"age": [[0]]}, ["'age'", "[0]"]),
            ({"smoker": b"no"}, ["'smoker'"]),
            ([("age", 1)], ["mapping", "'age'"]),
            ("age", ["mapping", "'age'"]),
            (None, ["mapping", "None"]),
        ],
    )
    def test_what_is_refused(self, circuit, event, parts):
        with pytest.raises(EvidenceError) as caught:
            circuit.probability(event)
        for part in parts:
            assert part in str(caught.value)

    @pytest.mark.parametrize(
        ("event", "low", "high"),
        [
            ({}, 1, 1),
            ({"age": None, "smoker": None}, 1, 1),
            ({"age": None, "smoker": "yes"}, 0.2, 0.4),
            ({"age": 0}, 0.5, 0.5),
            ({"age": np.int8(1), "smoker": np.str_("no")}, 0.15, 0.2),
            ({"age": {0, 2}}, 0.75, 0.75),
            ({"age": (0, 0, 2)}, 0.75, 0.75),
            ({"age": range(3), "smoker": ["yes"]}, 0.2, 0.4),
            ({"age": (code for code in (0, 1))}, 0.75, 0.75),
            ({"age": np.array([1, 2])}, 0.5, 0.5),
            ({"age": np.array(1)}, 0.25, 0.25),
            ({"age": True}, 0.25, 0.25),
            ({"smoker": {"no", "yes"}}, 1, 1),
        ],
    )
    def test_what_is_accepted(self, circuit, event, low, high):
        assert tuple(circuit.probability(event)) == pytest.approx((low, high), abs=1e-15)


def test_masked_cells_are_missing(circuit):
    masked = np.ma.array([[1, 1], [0, 0]], mask=[[True, False], [False, True]])
    np.testing.assert_array_equal(circuit.log_bounds(masked), circuit.log_bounds([[-1, 1], [0, -1]]))


def test_a_value_that_is_no_number_is_missing(circuit):
    for missing in (None, float("nan"), np.float64("nan")):
        assert circuit.probability({"age": missing, "smoker": "yes"}) == circuit.probability({"smoker": "yes"})


def test_bytes_are_one_value(circuit):
    with pytest.raises(EvidenceError, match=r"column 'smoker' has no value b'yes'; it has no, yes"):
        circuit.probability({"smoker": b"yes"})


def test_too_many_weights_for_all_extreme_points_name_the_node():
    b = CircuitBuilder({"age": 13})
    wide = b.freeze(b.leaf("age", Intervals([0] * 13, [1] * 13)))
    with pytest.raises(CircuitError, match=r"leaf 0 has 13 weights, too many to try all extreme points; use solver='greedy' or 'lp'"):
        wide.log_bounds([[0]], solver="vertices")
    b = CircuitBuilder({"age": 13})
    precise = b.freeze(b.leaf("age", [1 / 13] * 13))
    np.testing.assert_allclose(precise.log_bounds([[0]], solver="vertices"), np.log(1 / 13))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_masked_codes_are_missing(dtype):
    b = CircuitBuilder({"a": 2, "b": 2})
    circuit = b.freeze(b.product([b.leaf("a", [0.9, 0.1]), b.leaf("b", [0.8, 0.2])]))
    codes = np.ma.array(np.array([[0, 1]], dtype), mask=[[True, False]])
    assert np.exp(circuit.log_likelihood(codes)) == pytest.approx(0.2)
