"""Very small values, very many children, very deep circuits."""

import math
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, localcontext

import numpy as np
import pytest

import credo
from credo import CircuitBuilder, Contaminated, Intervals, Precise, Vertices
from credo.table.schema import MOST_VALUES
from reference.credal import Box, best_sum, best_sum_of_intervals, extreme_points
from tests.random_circuits import random_circuit, rows_with_gaps

DEEP = 3000


def columns(n, size=2):
    return {f"x{i}": size for i in range(n)}


@pytest.fixture(scope="module")
def leaf_weights():
    return np.random.default_rng(5).uniform(0.02, 0.2, size=(3, TestManyColumns.n))


class TestManyColumns:
    n = 2000

    def test_a_product_is_the_sum_of_logarithms(self, leaf_weights):
        b = CircuitBuilder(columns(self.n))
        circuit = b.freeze(b.product([b.leaf(f"x{i}", [1 - p, p]) for i, p in enumerate(leaf_weights[0])]))
        ones = np.ones((3, self.n), dtype=int)
        ones[1, ::2] = -1
        expected = [math.fsum(map(math.log, leaf_weights[0])), math.fsum(map(math.log, leaf_weights[0, 1::2]))]
        assert expected[0] < -4000
        found = circuit.log_likelihood(ones)
        assert found == pytest.approx([expected[0], expected[1], expected[0]], rel=1e-12)
        assert circuit.log_likelihood(ones[:1]) == pytest.approx(expected[:1], rel=1e-12)

    def test_a_product_of_interval_leaves(self, leaf_weights):
        b = CircuitBuilder(columns(self.n))
        low, high = leaf_weights[0] * 0.5, leaf_weights[0] * 1.5
        leaves = [b.leaf(f"x{i}", Intervals([1 - q, p], [1 - p, q])) for i, (p, q) in enumerate(zip(low, high, strict=True))]
        circuit = b.freeze(b.product(leaves))
        expected = (math.fsum(map(math.log, low)), math.fsum(map(math.log, high)))
        ones = np.ones((2, self.n), dtype=int)
        assert circuit.log_bounds(ones)[1] == pytest.approx(expected, rel=1e-12)
        assert circuit.log_bounds(ones[:1])[0] == pytest.approx(expected, rel=1e-12)
        assert circuit.log_bounds(-ones) == pytest.approx(np.zeros((2, 2)))

    @pytest.mark.parametrize("kind", ["precise", "intervals", "vertices"])
    def test_a_sum_of_tiny_products_in_decimal_arithmetic(self, leaf_weights, kind):
        b = CircuitBuilder(columns(self.n))
        products = [b.product([b.leaf(f"x{i}", [1 - p, p]) for i, p in enumerate(row)]) for row in leaf_weights]
        box = Box((0.1, 0.2, 0.3), (0.5, 0.4, 0.6))
        points, own = {
            "precise": ([(0.25, 0.25, 0.5)], Precise([0.25, 0.25, 0.5])),
            "intervals": (extreme_points(box.lower, box.upper), Intervals(box.lower, box.upper)),
            "vertices": ([(1, 0, 0), (0, 0.5, 0.5)], Vertices([(1, 0, 0), (0, 0.5, 0.5)])),
        }[kind]
        circuit = b.freeze(b.sum(products, own))
        with localcontext(prec=60):
            values = [math.prod(map(Decimal, row.tolist())) for row in leaf_weights]
            sums = [float(sum(Decimal(w) * v for w, v in zip(point, values, strict=True)).ln()) for point in points]
        ones = np.ones((2, self.n), dtype=int)
        assert circuit.log_bounds(ones)[0] == pytest.approx((min(sums), max(sums)), rel=1e-12)
        assert circuit.log_bounds(ones[:1])[0] == pytest.approx((min(sums), max(sums)), rel=1e-12)

    @pytest.mark.parametrize("solver", ["vertices", "lp"])
    def test_the_other_solvers_on_tiny_values(self, solver):
        b = CircuitBuilder(columns(100))
        products = [b.product([b.leaf(f"x{i}", [1, weight]) for i in range(100)]) for weight in (1e-20, 1.01e-20, 1.02e-20)]
        circuit = b.freeze(b.sum(products, Intervals([0.1, 0.2, 0.3], [0.5, 0.4, 0.6])))
        with localcontext(prec=60):
            values = [Decimal(weight) ** 100 for weight in (1e-20, 1.01e-20, 1.02e-20)]
            points = [(0.5, 0.2, 0.3), (0.1, 0.3, 0.6)]
            expected = [float(sum(Decimal(w) * v for w, v in zip(point, values, strict=True)).ln()) for point in points]
        ones = np.ones((1, 100), dtype=int)
        assert circuit.log_bounds(ones, solver=solver)[0] == pytest.approx(expected, rel=1e-9)
        assert circuit.log_bounds(ones)[0] == pytest.approx(expected, rel=1e-12)

    def test_large_and_tiny_rows_in_one_batch(self, leaf_weights):
        b = CircuitBuilder(columns(self.n))
        circuit = b.freeze(b.product([b.leaf(f"x{i}", Contaminated([1 - p, p], 0.01)) for i, p in enumerate(leaf_weights[0])]))
        rows = np.full((4, self.n), -1)
        rows[1] = 1
        rows[2, :3] = 1
        rows[3, : self.n // 4] = 1
        found = circuit.log_bounds(rows)
        for row, known in enumerate((0, self.n, 3, self.n // 4)):
            low = math.fsum(math.log(0.99 * p) for p in leaf_weights[0, :known])
            high = math.fsum(math.log(0.99 * p + 0.01) for p in leaf_weights[0, :known])
            assert found[row] == pytest.approx((low, high), rel=1e-11, abs=1e-12)


class TestTinyWeights:
    """Products of sums whose weights are tiny: values that a double cannot hold although every factor fits."""

    def product_of_sums(self, own, n=5):
        b = CircuitBuilder(columns(n))
        return b.freeze(b.product([b.sum([b.indicator(f"x{i}", 1), b.indicator(f"x{i}", 0)], own) for i in range(n)]))

    @pytest.mark.parametrize("rows", [1, 3])
    @pytest.mark.parametrize(
        ("own", "low", "high"),
        [
            (Precise([1e-100, 1]), 1e-100, 1e-100),
            (Vertices([(1e-100, 1), (2e-100, 1)]), 1e-100, 2e-100),
            (Intervals([1e-100, 0.5], [2e-100, 1]), 1e-100, 2e-100),
            (Vertices([(1e-100, 1), (0.5, 0.5)]), 1e-100, 0.5),
            (Intervals([1e-100, 0.5], [0.5, 1]), 1e-100, 0.5),
            (Precise([5e-324, 1]), 5e-324, 5e-324),
            (Vertices([(5e-324, 1), (1e-310, 1)]), 5e-324, 1e-310),
            (Intervals([5e-324, 0], [0.25, 1]), 5e-324, 0.25),
            (Vertices([(0, 1), (1e-200, 1)]), 0, 1e-200),
            (Contaminated([1e-150, 1], 0.5), 0.5e-150, 0.5),
        ],
    )
    def test_products_of_tiny_sums(self, own, low, high, rows):
        found = self.product_of_sums(own).log_bounds(np.ones((rows, 5), dtype=int))
        expected = [5 * math.log(value) if value > 0 else -math.inf for value in (low, high)]
        for row in found:
            assert row.tolist() == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("own", [Precise([1e-100, 1]), Intervals([1e-100, 0.5], [2e-100, 1]), Vertices([(1e-100, 1), (2e-100, 1)])])
    def test_products_of_tiny_leaves(self, own):
        b = CircuitBuilder(columns(5))
        circuit = b.freeze(b.product([b.leaf(f"x{i}", own) for i in range(5)]))
        hull = own.hull()
        expected = [5 * math.log(hull.lower[0]), 5 * math.log(hull.upper[0])]
        assert circuit.log_bounds([[0] * 5])[0] == pytest.approx(expected, rel=1e-12)
        assert circuit.log_bounds([[0] * 5] * 3)[2] == pytest.approx(expected, rel=1e-12)
        assert circuit.log_bounds([[1] * 5])[0] == pytest.approx([0, 0], abs=1e-12)

    def test_one_tiny_weight_for_each_of_many_levels(self):
        b = CircuitBuilder(columns(8, 3))
        parts = [b.sum([b.leaf(f"x{i}", [1e-60, 0.5, 0.5]), b.leaf(f"x{i}", [0, 0, 1])], Intervals([1e-60, 0], [1, 1])) for i in range(8)]
        found = b.freeze(b.product(parts)).log_bounds([[0] * 8, [2] * 8])
        assert found[0] == pytest.approx([8 * math.log(1e-120), 8 * math.log(1e-60)], rel=1e-12)
        assert found[1] == pytest.approx([8 * math.log(0.5), 0], abs=1e-12)


class TestChildrenFarApart:
    @pytest.mark.parametrize("tiny", [1e-300, 1e-320, 5e-324])
    @pytest.mark.parametrize(
        "own", [Precise([0.5, 0.5]), Intervals([0, 0], [1, 1]), Intervals([0.25, 0], [1, 0.5]), Vertices([(1, 0), (0.25, 0.75)])]
    )
    def test_two_children(self, tiny, own):
        b = CircuitBuilder({"x": 2})
        circuit = b.freeze(b.sum([b.leaf("x", [1, tiny]), b.leaf("x", [0, 1])], own))
        points = own.extreme_points()
        values = [math.log(a * tiny + c) if c else math.log(tiny) + math.log(a) for a, c in points]
        for rows in (1, 2):
            assert circuit.log_bounds([[1]] * rows)[-1] == pytest.approx((min(values), max(values)), rel=1e-9)

    def test_the_tiny_child_is_all_that_is_left(self):
        b = CircuitBuilder(columns(3))
        tiny = b.product([b.leaf(f"x{i}", [1, 1e-300]) for i in range(3)])
        zero = b.product([b.indicator(f"x{i}", 0) for i in range(3)])
        circuit = b.freeze(b.sum([tiny, zero], Intervals([0.2, 0.3], [0.7, 0.8])))
        expected = [math.log(0.2) + 3 * math.log(1e-300), math.log(0.7) + 3 * math.log(1e-300)]
        assert circuit.log_bounds([[1, 1, 1], [1, 1, 1]])[0] == pytest.approx(expected, rel=1e-12)


class TestCertainAndImpossible:
    def test_impossible_rows_are_minus_infinity(self):
        b = CircuitBuilder({"x": 2, "y": 3})
        circuit = b.freeze(b.product([b.leaf("x", [1, 0]), b.leaf("y", Intervals([0, 0, 0.2], [0, 0.8, 1]))]))
        found = circuit.log_bounds([[1, 1], [0, 0], [0, 1], [0, 2], [-1, 0], [1, -1], [0, -1]])
        expected = np.array([(0, 0), (0, 0), (0, 0.8), (0.2, 1), (0, 0), (0, 0), (1, 1)])
        assert np.exp(found) == pytest.approx(expected)
        assert (found[expected == 0] == -np.inf).all()
        assert tuple(circuit.probability({"x": 1})) == (0, 0)

    @pytest.mark.parametrize("solver", ["greedy", "vertices", "lp"])
    @pytest.mark.parametrize("own", [Precise([0.5, 0.5, 0]), Intervals([0, 0, 0], [1, 1, 0]), Vertices([(1, 0, 0), (0, 1, 0)])])
    def test_a_sum_of_impossible_children(self, own, solver):
        b = CircuitBuilder({"x": 2})
        circuit = b.freeze(b.sum([b.indicator("x", 0), b.indicator("x", 0), b.indicator("x", 1)], own))
        found = circuit.log_bounds([[1], [0], [-1]], solver=solver)
        assert (found[0] == -np.inf).all()
        assert found[1:] == pytest.approx(np.zeros((2, 2)), abs=1e-12)

    def test_nothing_but_impossible_rows(self):
        b = CircuitBuilder(columns(400))
        weights = Intervals([0.1, 0.9], [0.1, 0.9])
        leaves = [b.leaf("x0", Intervals([0.0, 0.5], [0.5, 1.0])), *(b.leaf(f"x{i}", weights) for i in range(1, 400))]
        circuit = b.freeze(b.product(leaves))
        for n_rows in (1, 3):
            found = circuit.log_bounds(np.zeros((n_rows, 400), dtype=int))
            assert np.isneginf(found[:, 0]).all()
            assert found[:, 1] == pytest.approx(math.log(0.5) + 399 * math.log(0.1), rel=1e-12)
        b = CircuitBuilder(columns(400))
        circuit = b.freeze(b.product([b.leaf("x0", [0, 1]), *(b.leaf(f"x{i}", [0.1, 0.9]) for i in range(1, 400))]))
        assert np.isneginf(circuit.log_likelihood(np.zeros((3, 400), dtype=int))).all()

    def test_a_product_of_impossible_sums_is_no_nan(self):
        b = CircuitBuilder({"x": 2, "y": 2})
        parts = [b.sum([b.indicator(name, 0), b.indicator(name, 0)], Intervals([0, 0], [1, 1])) for name in ("x", "y")]
        circuit = b.freeze(b.product(parts))
        assert (circuit.log_bounds([[1, 1], [1, 0], [0, 1]]) == -np.inf).all()
        assert tuple(circuit.probability({"x": {1}, "y": {0, 1}})) == (0, 0)


def wide_sums(n):
    """Intervals for n children, by the number of children that share the free mass, and how reachable they are."""
    few = Box((0.0,) * n, (0.5 if n > 1 else 1.0,) * n)
    many = Box((0.0,) * n, (min(1.0, 2.0 / n),) * n)
    rng = np.random.default_rng(n)
    lower = rng.dirichlet(np.ones(n)) * 0.3
    mixed = Box(tuple(lower), tuple(np.minimum(lower + np.where(rng.random(n) < 0.3, 0.0, rng.random(n) * 4 / n), 1.0).tolist()))
    vacuous = Box((0.0,) * n, (1.0,) * n)
    tilted = Box((0.0,) * n, tuple(np.linspace(1.0 / n, min(1.0, 3.0 / n), n)))
    return {"few": few, "many": many, "mixed": mixed, "vacuous": vacuous, "tilted": tilted}


NUMBERS = [1, 2, 3, 4, 5, 9, 20, 64, 127, 128, 129, 130, pytest.param(1500, marks=pytest.mark.slow)]


@pytest.mark.parametrize("shape", ["few", "many", "mixed", "vacuous", "tilted"])
@pytest.mark.parametrize("n", NUMBERS)
class TestManyChildren:
    def sums_and_values(self, n, shape, digits):
        rng = np.random.default_rng(n)
        first, second = rng.random((2, n))
        if digits is not None:
            first, second = first.round(digits), second.round(digits)  # many exact ties
        box = wide_sums(n)[shape]
        if sum(box.upper) < 1:
            box = Box(box.lower, tuple(min(1.0, high + 2 / n) for high in box.upper))
        b = CircuitBuilder({"x": 2, "y": 2})
        children = [b.product([b.leaf("x", [1 - p, p]), b.leaf("y", [1 - q, q])]) for p, q in zip(first, second, strict=True)]
        rows = np.array([(0, 0), (0, 1), (1, -1), (-1, 1), (-1, -1)])
        one = np.ones(n)
        leaf = {(0, 0): 1 - first, (0, 1): first, (0, -1): one, (1, 0): 1 - second, (1, 1): second, (1, -1): one}
        values = [leaf[0, x] * leaf[1, y] for x, y in rows.tolist()]
        return b.freeze(b.sum(children, Intervals(box.lower, box.upper))), box, rows, values

    @pytest.mark.parametrize("digits", [None, 1, 0], ids=["distinct", "tied", "zeros and ones"])
    def test_against_duality(self, n, shape, digits):
        circuit, box, rows, values = self.sums_and_values(n, shape, digits)
        expected = [[best_sum_of_intervals(box.lower, box.upper, row, maximum) for maximum in (False, True)] for row in values]
        found = circuit.log_bounds(rows)
        assert np.exp(found) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-12)
        single = np.concatenate([circuit.log_bounds(row[None]) for row in rows[:3]])
        assert np.exp(single) == pytest.approx(np.array(expected)[:3], rel=1e-9, abs=1e-12)
        answer = circuit.probability({"x": [0], "y": [0, 1]})
        marginal = circuit.log_bounds([[0, -1]])[0]
        assert tuple(answer) == pytest.approx(np.exp(marginal), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n_points", [1, 2, 50, 400])
def test_vertices_with_many_points(n_points):
    rng = np.random.default_rng(n_points)
    points, leaves = rng.dirichlet(np.ones(6), size=n_points), rng.random(6)
    b = CircuitBuilder({"x": 2})
    circuit = b.freeze(b.sum([b.leaf("x", [1 - p, p]) for p in leaves], Vertices(points)))
    sums = points @ leaves
    assert np.exp(circuit.log_bounds([[1], [-1]])) == pytest.approx(np.array([(sums.min(), sums.max()), (1, 1)]), abs=1e-12)


@pytest.mark.parametrize("size", [2, 3, 300])
@pytest.mark.parametrize("kind", ["precise", "intervals", "unreachable", "contaminated", "vertices"])
def test_columns_with_few_and_many_values(size, kind):
    rng = np.random.default_rng(size)
    weights = rng.dirichlet(np.ones(size))
    own, low, high = {
        "precise": (Precise(weights), weights, weights),
        "intervals": (Intervals.from_counts(np.arange(size), missing=size), None, None),
        "unreachable": (Intervals(weights * 0.9, np.ones(size)), weights * 0.9, weights * 0.9 + 0.1),
        "contaminated": (Contaminated(weights, 0.25), weights * 0.75, weights * 0.75 + 0.25),
        "vertices": (Vertices([weights, weights[::-1]]), np.minimum(weights, weights[::-1]), np.maximum(weights, weights[::-1])),
    }[kind]
    low, high = (own.lower, own.upper) if low is None else (low, high)
    b = CircuitBuilder({"x": size, "y": 2})
    circuit = b.freeze(b.product([b.leaf("x", own), b.leaf("y", [0.5, 0.5])]))
    rows = np.stack([np.arange(-1, size), np.full(size + 1, -1)], axis=1)
    expected = np.concatenate([[[1, 1]], np.stack([low, high], axis=1)])
    assert np.exp(circuit.log_bounds(rows)) == pytest.approx(expected, abs=1e-12)
    event = set(range(0, size, 2))
    if kind != "vertices":
        lower, upper = Box(tuple(own.hull().lower), tuple(own.hull().upper)).lower, own.hull().upper
        flags = [float(code in event) for code in range(size)]
        expected_set = [best_sum_of_intervals(lower, upper, flags, maximum) for maximum in (False, True)]
    else:
        expected_set = sorted(own.points[:, ::2].sum(axis=1))
    assert tuple(circuit.probability({"x": event})) == pytest.approx(expected_set, abs=1e-12)


@pytest.fixture(scope="module", params=["deep child first", "deep child last"])
def deep_sums(request):
    b = CircuitBuilder({"x": 2})
    node, low, high = b.leaf("x", [0.5, 0.5]), 0.5, 0.5
    for i in range(DEEP):
        p = (i % 97 + 1) / 100
        leaf = b.leaf("x", [1 - p, p])
        box = ((0.6, 0.1), (0.9, 0.4)) if request.param == "deep child first" else ((0.1, 0.6), (0.4, 0.9))
        node = b.sum([node, leaf] if request.param == "deep child first" else [leaf, node], Intervals(*box))
        low, high = best_sum(Box((0.6, 0.1), (0.9, 0.4)), (low, p), False), best_sum(Box((0.6, 0.1), (0.9, 0.4)), (high, p), True)
    return b.freeze(node), (low, high)


def test_the_largest_number_of_values_a_column_may_have():
    weights = np.arange(1.0, MOST_VALUES + 1)
    weights /= weights.sum()
    b = CircuitBuilder({"x": MOST_VALUES, "y": 2})
    circuit = b.freeze(b.product([b.leaf("x", Contaminated(weights, 0.5)), b.leaf("y", [0.5, 0.5])]))
    codes = [0, MOST_VALUES // 2, MOST_VALUES - 1]
    expected = np.array([*((weights[code] / 2, weights[code] / 2 + 0.5) for code in codes), (1, 1)])
    rows = [*([code, -1] for code in codes), [-1, -1]]
    assert np.exp(circuit.log_bounds(rows)) == pytest.approx(expected, rel=1e-12)
    assert np.concatenate([np.exp(circuit.log_bounds([row])) for row in rows]) == pytest.approx(expected, rel=1e-12)
    assert tuple(circuit.probability({"x": range(MOST_VALUES - 1)})) == pytest.approx((0.5 - weights[-1] / 2, 1 - weights[-1] / 2))


class TestDeepCircuits:
    def test_sums_below_sums(self, deep_sums):
        circuit, expected = deep_sums
        assert circuit.depth == DEEP
        assert np.exp(circuit.log_bounds([[1], [-1]])) == pytest.approx(np.array([expected, (1, 1)]), abs=1e-12)
        assert np.exp(circuit.log_bounds([[1]])[0]) == pytest.approx(expected, abs=1e-12)
        assert tuple(circuit.probability({"x": [1]})) == pytest.approx(expected, abs=1e-12)

    def test_everything_else_works_on_deep_circuits(self, deep_sums, tmp_path):
        circuit, _ = deep_sums
        assert circuit.is_tree
        assert not circuit.is_selective
        assert circuit.n_extreme_points == 2 * DEEP
        assert circuit.to_text().count("\n") == circuit.n_nodes + 2
        assert circuit.draw(tmp_path / "deep.dot", max_nodes=5000).stat().st_size > DEEP
        circuit.save(tmp_path / "deep.credo")
        assert credo.load(tmp_path / "deep.credo") == circuit

    def test_products_below_products(self):
        b = CircuitBuilder(columns(DEEP))
        node = b.leaf("x0", Intervals([0.2, 0.4], [0.6, 0.8]))
        for i in range(1, DEEP):
            node = b.product([node, b.leaf(f"x{i}", Intervals([0.2, 0.4], [0.6, 0.8]))])
        circuit = b.freeze(node)
        assert circuit.depth == DEEP - 1
        expected = (DEEP * math.log(0.4), DEEP * math.log(0.8))
        found = circuit.log_bounds(np.ones((2, DEEP), dtype=int))
        assert found[1] == pytest.approx(expected, rel=1e-12)

    def test_single_children_all_the_way_down(self):
        b = CircuitBuilder({"x": 2})
        node = b.leaf("x", [0.75, 0.25])
        for i in range(DEEP):
            node = b.product([node]) if i % 2 else b.sum([node], [1.0])
        circuit = b.freeze(node)
        assert np.exp(circuit.log_bounds([[1]])[0]) == pytest.approx((0.25, 0.25))
        assert circuit.is_selective


def test_values_of_shared_nodes_survive_other_work():
    """A shared node is computed once and kept while the rest of the circuit is worked on."""
    b = CircuitBuilder({"x": 2, "y": 2})
    shared = b.sum([b.leaf("y", [0.2, 0.8]), b.leaf("y", [0.7, 0.3])], Intervals([0.3, 0.4], [0.6, 0.7]))
    low, high = best_sum(Box((0.3, 0.4), (0.6, 0.7)), (0.8, 0.3), False), best_sum(Box((0.3, 0.4), (0.6, 0.7)), (0.8, 0.3), True)
    parts = [b.product([b.leaf("x", [1 - p, p]), shared]) for p in (0.1, 0.5, 0.9)]
    circuit = b.freeze(b.sum([parts[0], b.sum([parts[1], parts[2]], [0.5, 0.5])], [0.5, 0.5]))
    expected = (0.5 * 0.1 + 0.25 * 0.5 + 0.25 * 0.9) * np.array([low, high])
    assert np.exp(circuit.log_bounds([[1, 1]] * 3)) == pytest.approx(np.tile(expected, (3, 1)), abs=1e-12)


@pytest.mark.slow
def test_many_threads_get_the_same_answers():
    drawn = random_circuit(1004, shared=True)
    rows = rows_with_gaps(drawn.sizes, most=60)
    expected = drawn.build().log_bounds(rows)
    circuit = drawn.build()  # nothing of it is cached yet
    events = [{name: {0, 1} for name in drawn.names[: i % 3]} for i in range(24)]
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(circuit.log_bounds, rows) for _ in range(24)]
        probabilities = [pool.submit(circuit.probability, event) for event in events]
        facts = [pool.submit(lambda: (circuit.is_tree, circuit.is_selective, circuit.depth)) for _ in range(8)]
    assert all(np.array_equal(answer.result(), expected) for answer in answers)
    assert all(answer.result() == circuit.probability(event) for answer, event in zip(probabilities, events, strict=True))
    assert len({fact.result() for fact in facts}) == 1
