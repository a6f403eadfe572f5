"""What holds of the bounds of every circuit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import credo
from credo import Circuit, CircuitBuilder
from reference import circuits as ref
from reference.bounds import bounds, evidence_of_codes
from reference.circuits import from_arrays
from reference.credal import Box, Hull, Point, best_sum_of_intervals, vertices
from reference.worlds import values_of_network, worlds
from tests.random_circuits import RandomCircuit, assert_log_bounds, build, random_point_of, rows_with_gaps, to_credo
from tests.strategies import boxes, circuits, generators, seeds, small_circuits, wide_boxes

ROUNDING = 1e-9


def precise_version(root, choose):
    """Return the same circuit with one point of every credal set."""
    made = {}
    for node in ref.nodes(root):
        below = tuple(made[child] for child in ref.children(node))
        if isinstance(node, ref.Leaf):
            made[node] = ref.Leaf(node.column, Point(choose(node.credal_set)))
        elif isinstance(node, ref.Product):
            made[node] = ref.Product(below)
        else:
            made[node] = ref.Sum(below, Point(choose(node.credal_set)))
    return made[root]


@given(circuits, generators)
def test_every_compatible_network_lies_between_the_bounds(drawn, rng):
    rows = rows_with_gaps(drawn.sizes, most=40)
    limits = np.exp(drawn.build().log_bounds(rows))
    for _ in range(3):
        network = build(precise_version(drawn.root, lambda own: random_point_of(rng, own)), drawn.sizes)
        inside = np.exp(network.log_likelihood(rows))
        assert (limits[:, 0] <= inside + ROUNDING).all()
        assert (inside <= limits[:, 1] + ROUNDING).all()


@given(circuits)
def test_the_network_of_all_centres_lies_between_the_bounds(drawn):
    rows = rows_with_gaps(drawn.sizes, most=40)
    limits = np.exp(drawn.build().log_bounds(rows))
    centres = precise_version(drawn.root, lambda own: tuple(to_credo(own).centre.tolist()))
    inside = np.exp(build(centres, drawn.sizes).log_bounds(rows))
    assert (limits[:, 0] <= inside[:, 0] + ROUNDING).all()
    assert (inside[:, 1] <= limits[:, 1] + ROUNDING).all()


@given(circuits, generators)
def test_width_zero_gives_the_precise_network(drawn, rng):
    chosen = {}
    points = precise_version(drawn.root, lambda own: chosen.setdefault(id(own), random_point_of(rng, own)))
    rows = np.array(worlds(drawn.sizes))
    ordered = ref.nodes(points)
    expected = values_of_network(
        ordered, {node: vertices(node.credal_set)[0] for node in ordered if not isinstance(node, ref.Product)}, rows
    )
    precise = build(points, drawn.sizes)
    assert precise.is_precise
    assert np.exp(precise.log_likelihood(rows)) == pytest.approx(expected, abs=1e-12)
    limits = precise.log_bounds(rows)
    assert (limits[:, 0] == limits[:, 1]).all()
    as_intervals = build(_with_boxes(points), drawn.sizes)
    np.testing.assert_allclose(np.exp(as_intervals.log_bounds(rows)), np.stack([expected, expected], axis=1), atol=1e-12)


def _with_boxes(root):
    """Return a precise circuit with intervals of width zero instead of points."""
    made = {}
    for node in ref.nodes(root):
        below = tuple(made[child] for child in ref.children(node))
        own = None if isinstance(node, ref.Product) else Box(node.credal_set.weights, node.credal_set.weights)
        if isinstance(node, ref.Leaf):
            made[node] = ref.Leaf(node.column, own)
        else:
            made[node] = ref.Product(below) if own is None else ref.Sum(below, own)
    return made[root]


@given(circuits)
def test_over_all_worlds_upper_values_add_to_at_least_one_and_lower_ones_to_at_most_one(drawn):
    totals = np.exp(drawn.build().log_bounds(worlds(drawn.sizes))).sum(axis=0)
    assert totals[0] <= 1 + ROUNDING
    assert totals[1] >= 1 - ROUNDING


@given(circuits)
def test_bounds_never_cross_and_are_never_undefined(drawn):
    found = drawn.build().log_bounds(rows_with_gaps(drawn.sizes, most=60))
    assert not np.isnan(found).any()
    assert (found[:, 0] <= found[:, 1]).all()
    assert (found <= 0).all()


@given(circuits, generators)
def test_more_evidence_is_less_probable(drawn, rng):
    circuit = drawn.build()
    rows = rows_with_gaps(drawn.sizes, most=40)
    known_less = np.where(rng.random(rows.shape) < 0.5, -1, rows)
    more, less = np.exp(circuit.log_bounds(rows)), np.exp(circuit.log_bounds(known_less))
    assert (more <= less + ROUNDING).all()


@given(circuits, generators)
def test_larger_sets_of_values_are_more_probable(drawn, rng):
    circuit = drawn.build()
    small, large = {}, {}
    for name, size in zip(drawn.names, drawn.sizes, strict=True):
        order = rng.permutation(size).tolist()
        cut = rng.integers(1, size + 1)
        small[name], large[name] = set(order[: rng.integers(1, cut + 1)]), set(order[:cut])
    inner, outer = circuit.probability(small), circuit.probability(large)
    assert inner.lower <= outer.lower + ROUNDING
    assert inner.upper <= outer.upper + ROUNDING


@given(circuits, generators)
def test_what_is_left_over_is_the_other_bound(drawn, rng):
    """The lower probability of an event is one less the upper one of its complement; events here are about one column."""
    circuit = drawn.build()
    column = int(rng.integers(len(drawn.sizes)))
    inside = np.flatnonzero(rng.random(drawn.sizes[column]) < 0.5).tolist()
    outside = [code for code in range(drawn.sizes[column]) if code not in inside]
    assume(inside and outside)
    one, other = circuit.probability({drawn.names[column]: inside}), circuit.probability({drawn.names[column]: outside})
    assert one.lower == pytest.approx(1 - other.upper, abs=ROUNDING)
    assert one.upper == pytest.approx(1 - other.lower, abs=ROUNDING)


@given(circuits)
def test_the_kernel_agrees_with_the_definition(drawn):
    circuit = drawn.build()
    rows = rows_with_gaps(drawn.sizes, most=25)
    read_back = from_arrays(circuit.arrays)
    expected = np.array([bounds(read_back, evidence_of_codes(row, drawn.sizes)) for row in rows.tolist()])
    assert_log_bounds(circuit.log_bounds(rows), expected)


@given(circuit_drawn=small_circuits)
def test_saved_is_loaded(circuit_drawn, tmp_path_factory):
    circuit = circuit_drawn.build()
    path = tmp_path_factory.getbasetemp() / "saved.credo"
    circuit.save(path)
    loaded = credo.load(path)
    assert loaded == circuit
    rows = rows_with_gaps(circuit_drawn.sizes, most=20)
    assert np.array_equal(loaded.log_bounds(rows), circuit.log_bounds(rows))
    loaded.save(path.with_suffix(".again"))
    assert path.read_bytes() == path.with_suffix(".again").read_bytes()


@given(circuits, generators)
def test_the_order_of_rows_does_not_matter(drawn, rng):
    circuit = drawn.build()
    rows = rows_with_gaps(drawn.sizes, most=40)
    order = rng.permutation(len(rows))
    assert np.array_equal(circuit.log_bounds(rows[order]), circuit.log_bounds(rows)[order])


@given(circuits, generators)
def test_the_order_of_columns_does_not_matter(drawn, rng):
    order = rng.permutation(len(drawn.sizes))
    place = np.argsort(order)  # column order[i] moves to place i
    made = {}
    for node in ref.nodes(drawn.root):
        below = tuple(made[child] for child in ref.children(node))
        if isinstance(node, ref.Leaf):
            made[node] = ref.Leaf(int(place[node.column]), node.credal_set)
        else:
            made[node] = replace(node, children=below)
    moved = RandomCircuit(made[drawn.root], tuple(drawn.sizes[column] for column in order)).build()
    rows = rows_with_gaps(drawn.sizes, most=40)
    np.testing.assert_allclose(np.exp(moved.log_bounds(rows[:, order])), np.exp(drawn.build().log_bounds(rows)), atol=1e-12)


@given(circuits, generators)
def test_the_order_of_children_does_not_matter(drawn, rng):
    made = {}
    for node in ref.nodes(drawn.root):
        if isinstance(node, ref.Leaf):
            made[node] = node
            continue
        order = rng.permutation(len(node.children)).tolist()
        below = tuple(made[node.children[i]] for i in order)
        made[node] = ref.Product(below) if isinstance(node, ref.Product) else ref.Sum(below, _reordered(node.credal_set, order))
    rows = rows_with_gaps(drawn.sizes, most=40)
    np.testing.assert_allclose(
        np.exp(build(made[drawn.root], drawn.sizes).log_bounds(rows)), np.exp(drawn.build().log_bounds(rows)), atol=1e-12
    )


def _reordered(credal_set, order):
    match credal_set:
        case Box(lower, upper):
            return Box(tuple(lower[i] for i in order), tuple(upper[i] for i in order))
        case Hull(points):
            return Hull(tuple(tuple(point[i] for i in order) for point in points))
        case _:
            return replace(credal_set, weights=tuple(credal_set.weights[i] for i in order))


@given(circuits)
def test_names_and_labels_do_not_matter(drawn):
    plain = drawn.build()
    labels = {f"β {c} \"'\\": [f"value {code}" for code in range(size)] for c, size in enumerate(drawn.sizes)}
    labelled = Circuit(plain.arrays, credo.Schema.of(labels))
    rows = rows_with_gaps(drawn.sizes, most=10)
    assert np.array_equal(labelled.log_bounds(rows), plain.log_bounds(rows))
    for row in rows.tolist():
        named = {name: values[code] for (name, values), code in zip(labels.items(), row, strict=True) if code >= 0}
        coded = {name: code for name, code in zip(drawn.names, row, strict=True) if code >= 0}
        assert labelled.probability(named) == plain.probability(coded)


def sum_over_leaves(box, values):
    """Return a circuit whose root is a sum with intervals, and whose children have given values where x is 1."""
    b = CircuitBuilder({"x": 2})
    return b.freeze(b.sum([b.leaf("x", [1 - value, value]) for value in values], to_credo(box)))


@given(st.integers(2, 12).flatmap(lambda n: st.tuples(wide_boxes(n), st.lists(st.floats(0, 1), min_size=n, max_size=n))))
def test_greedy_agrees_with_linear_programs(drawn):
    box, values = drawn
    circuit = sum_over_leaves(box, values)
    greedy = np.exp(circuit.log_bounds([[1]]))
    assert np.exp(circuit.log_bounds([[1]], solver="lp")) == pytest.approx(greedy, abs=1e-9)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(boxes(n), st.lists(st.floats(0, 1), min_size=n, max_size=n))))
def test_greedy_agrees_with_trying_every_vertex(drawn):
    box, values = drawn
    circuit = sum_over_leaves(box, values)
    greedy = np.exp(circuit.log_bounds([[1]]))
    assert np.exp(circuit.log_bounds([[1]], solver="vertices")) == pytest.approx(greedy, abs=1e-9)
    dual = [best_sum_of_intervals(box.lower, box.upper, values, maximum) for maximum in (False, True)]
    assert greedy[0] == pytest.approx(dual, abs=1e-9)


@settings(max_examples=20)
@given(seeds)
def test_the_three_solvers_agree_on_whole_circuits(seed):
    rng = np.random.default_rng(seed)
    b = CircuitBuilder({"x": 2, "y": 3})
    inner = [
        b.product(
            [
                b.leaf("x", credo.Contaminated(rng.dirichlet([1, 1]), rng.uniform(0.01, 0.5))),
                b.leaf("y", credo.Vertices(rng.dirichlet([1, 1, 1], size=3))),
            ]
        )
        for _ in range(3)
    ]
    circuit = b.freeze(b.sum(inner, credo.Contaminated(rng.dirichlet([1, 1, 1]), rng.uniform(0.01, 0.5))))
    rows = rows_with_gaps((2, 3), most=5, seed=seed)
    greedy = np.exp(circuit.log_bounds(rows))
    assert np.exp(circuit.log_bounds(rows, solver="vertices")) == pytest.approx(greedy, abs=1e-9)
    assert np.exp(circuit.log_bounds(rows, solver="lp")) == pytest.approx(greedy, abs=1e-9)
