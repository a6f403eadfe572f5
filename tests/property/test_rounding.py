"""What rounding leaves over must not pass for mass: sets written in decimals, whose floats do not add up exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo import CircuitBuilder, Contaminated, Intervals, Precise, Vertices

hundredths = st.integers(0, 100)


@st.composite
def decimal_intervals(draw, most=7):
    """Intervals with ends in hundredths, around a point in hundredths, and the number of children at the end that are not 0."""
    n = draw(st.integers(2, most))
    cuts = sorted(draw(st.lists(hundredths, min_size=n - 1, max_size=n - 1)))
    inside = [b - a for a, b in zip([0, *cuts], [*cuts, 100], strict=True)]
    lower = [draw(st.integers(0, weight)) for weight in inside]
    upper = [draw(st.integers(weight, 100)) if draw(st.booleans()) else weight for weight in inside]
    return lower, upper, draw(st.integers(1, n - 1))


def lower_sum(lower, upper, values):
    """Return the smallest sum over the intervals, in fractions."""
    spare = 100 - sum(lower)
    total = Fraction(0)
    for value, low, high in sorted(zip(values, lower, upper, strict=True)):
        take = min(spare, high - low)
        spare -= take
        total += Fraction(low + take, 100) * value
    return total


def sum_over(lower, upper, n_positive, tiny_columns):
    """Return a sum whose first children are 0 where `x` is 1, or tiny, and whose last ones are 1."""
    b = CircuitBuilder({"x": 2} | {f"t{i}": 2 for i in range(tiny_columns)})
    rest = [b.leaf(f"t{i}", [1, 0]) for i in range(tiny_columns)]
    tiny = [b.leaf(f"t{i}", [1e-15, 1 - 1e-15]) for i in range(tiny_columns)]
    zero = b.product([b.indicator("x", 0), *rest]) if not tiny_columns else b.product([b.indicator("x", 1), *tiny])
    one = b.product([b.indicator("x", 1), *rest])
    children = [zero] * (len(lower) - n_positive) + [one] * n_positive
    return b.freeze(b.sum(children, Intervals(np.array(lower) / 100, np.array(upper) / 100)))


@given(decimal_intervals())
def test_a_smallest_sum_of_zero_is_zero_for_one_row_and_for_many(drawn):
    lower, upper, n_positive = drawn
    circuit = sum_over(lower, upper, n_positive, 0)
    expected = float(lower_sum(lower, upper, [0] * (len(lower) - n_positive) + [1] * n_positive))
    rows = np.ones((3, 1), dtype=int)
    for found in (circuit.log_bounds(rows[:1])[0, 0], circuit.log_bounds(rows)[1, 0], circuit.log_bounds(rows, solver="vertices")[0, 0]):
        assert found == (-math.inf if expected == 0 else pytest.approx(math.log(expected), abs=1e-9))
    assert circuit.probability({"x": 1}).lower == (0 if expected == 0 else pytest.approx(expected, abs=1e-12))


@given(decimal_intervals(), st.sampled_from([2, 20, 60]))
def test_tiny_children_keep_their_size(drawn, tiny_columns):
    lower, upper, n_positive = drawn
    circuit = sum_over(lower, upper, n_positive, tiny_columns)
    tiny = Fraction(1e-15) ** tiny_columns
    exact = lower_sum(lower, upper, [tiny] * (len(lower) - n_positive) + [Fraction(1)] * n_positive)
    expected = math.log(exact.numerator) - math.log(exact.denominator)
    rows = np.zeros((3, tiny_columns + 1), dtype=int)
    rows[:, 0] = 1
    for found in (circuit.log_bounds(rows[:1])[0, 0], circuit.log_bounds(rows)[1, 0]):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", [3, 20, 60, 200])
def test_wide_sums_whose_mass_is_spent_on_zeros(n):
    for numerator in range(1, 30):
        share = (1 - numerator / 97) / (n - 1)
        upper = [share] * (n - 1) + [0.5]
        upper[0] += numerator / 97
        b = CircuitBuilder({"x": 2})
        zero, one = b.indicator("x", 0), b.indicator("x", 1)
        circuit = b.freeze(b.sum([zero] * (n - 1) + [one], Intervals([0.0] * n, upper)))
        assert np.isneginf(circuit.log_bounds([[1]])[:, 0]).all()
        assert np.isneginf(circuit.log_bounds([[1]] * 40)[:, 0]).all()


def test_weights_that_add_to_one_only_nearly_are_divided_by_their_sum():
    third = [0.3333333333] * 3
    assert Precise(third).weights.sum() == pytest.approx(1, abs=1e-15)
    assert Intervals(third, third).extreme_points() == pytest.approx(np.full((1, 3), 1 / 3), abs=1e-12)
    above = [0.3333333336] * 3
    assert Intervals(above, [0.4] * 3).extreme_points() == pytest.approx(np.full((1, 3), 1 / 3), abs=1e-12)
    seven = [0.1428571428] * 7
    b = CircuitBuilder({"x": 2})
    circuit = b.freeze(b.sum([b.leaf("x", [0.5, 0.5])] * 7, Precise(seven)))
    for solver in ("greedy", "vertices", "lp"):
        assert circuit.log_bounds([[-1], [0]], solver) == pytest.approx(np.log([[1, 1], [0.5, 0.5]]), abs=1e-12)
    b = CircuitBuilder({"x": 2})
    leaf = b.freeze(b.leaf("x", [0.3, 0.7 - 9e-10]))
    assert sum(np.exp(leaf.log_likelihood([[0], [1]]))) == pytest.approx(1, abs=1e-15)


@given(st.integers(1, 40), st.integers(0, 10**6))
def test_the_mean_of_limited_extreme_points_needs_none_of_them(n, seed):
    rng = np.random.default_rng(seed)
    inside = rng.dirichlet(np.full(n, rng.choice([0.2, 1.0, 5.0])))
    lower = np.where(rng.random(n) < 0.3, inside, inside * rng.random(n))
    upper = np.where(rng.random(n) < 0.3, inside, inside + (1 - inside) * rng.random(n))
    weights = Intervals(lower, upper, inside)
    points = weights.limited_extreme_points()
    assert weights.vertex_mean == pytest.approx(points.mean(axis=0), abs=1e-12)
    assert weights.n_limited_extreme_points == len(points)
    assert all(weights.contains(point) for point in points)


def test_sets_with_many_weights_take_little_memory():
    n = 30_000  # a table of all limited extreme points would take 7 GB
    weights = Intervals(np.zeros(n), np.full(n, 2 / n))
    assert weights.centre == pytest.approx(np.full(n, 1 / n), rel=1e-9)
    b = CircuitBuilder({"x": 2})
    circuit = b.freeze(b.sum([b.indicator("x", i % 2) for i in range(n)], weights))
    assert circuit.n_extreme_points == n
    assert tuple(circuit.probability({"x": 1})) == pytest.approx((0, 1), abs=1e-9)


@pytest.mark.parametrize(
    "credal_set",
    [Precise([0.25, 0.75]), Intervals([0, 0.5], [0.5, 1]), Vertices([(0.1, 0.9), (0.5, 0.5)]), Contaminated([0.25, 0.75], 0.2)],
)
def test_every_kind_answers_every_question(credal_set):
    assert credal_set.is_reachable
    assert credal_set.contains(credal_set.vertex_mean)
    assert credal_set.contains(credal_set.centre)
    assert all(credal_set.tightened().contains(point) for point in credal_set.extreme_points())
    assert credal_set.to_vertices().extreme_points() == pytest.approx(credal_set.extreme_points())
    assert all(credal_set.contains(point) for point in credal_set.limited_extreme_points())
    assert credal_set.hull().contains(credal_set.centre)
