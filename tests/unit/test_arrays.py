"""The constructor of circuit arrays refuses whatever is no circuit."""

import numpy as np
import pytest

from credo import CircuitBuilder, Contaminated, Intervals, Precise, Vertices
from credo.circuit.arrays import DTYPES, CircuitArrays
from credo.circuit.assemble import NodeSpec, assemble
from credo.circuit.checks import columns_below
from credo.circuit.kinds import LEAF, PRODUCT, SUM
from credo.errors import CircuitError


@pytest.fixture(scope="module")
def good():
    """Nodes: 0 leaf x, 1 leaf x (vertices), 2 sum of both, 3 leaf y, 4 product of 2 and 3."""
    b = CircuitBuilder({"x": 2, "y": 2})
    part = b.sum([b.leaf("x", [0.25, 0.75]), b.leaf("x", Vertices([(0.5, 0.5), (0, 1)]))], Intervals([0.2, 0.5], [0.5, 0.8]))
    circuit = b.freeze(b.product([part, b.leaf("y", [0.5, 0.5])]))
    return {name: array.copy() for name, array in circuit.arrays.as_mapping().items()}


def changed(array, at, value):
    copy = array.copy()
    copy[at] = value
    return copy


def test_the_mapping_makes_the_circuit_again(good):
    assert CircuitArrays.from_mapping(good) == CircuitArrays.from_mapping(good)
    assert CircuitArrays.from_mapping(good).as_mapping().keys() == DTYPES.keys()


def test_arrays_are_copied(good):
    own = {name: array.copy() for name, array in good.items()}
    arrays = CircuitArrays.from_mapping(own)
    own["lower"][:] = 7
    assert (arrays.lower <= 1).all()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("kind", lambda a: a[:0], "at least one node"),
        ("column_size", lambda a: a[:0], "at least one node and columns"),
        ("column_size", lambda a: changed(a, 0, 1), "at least two values"),
        ("column", lambda a: a[:-1], "4 columns"),
        ("set_kind", lambda a: a[:-1], "4 credal sets"),
        ("kind", lambda a: changed(a, 0, 3), "unknown kind"),
        ("set_kind", lambda a: changed(a, 0, 5), "unknown kind"),
        ("child_offset", lambda a: changed(a, 0, 1), "child offsets"),
        ("child_offset", lambda a: a[:-1], "child offsets"),
        ("child_offset", lambda a: changed(a, -1, 5), "child offsets do not divide 4"),
        ("child_offset", lambda a: changed(a, 1, 3), "child offsets"),
        ("child_offset", lambda a: np.array([0, 0, 2, 2, 2, 4]), "has 2 children"),
        ("weight_offset", lambda a: changed(a, -1, 9), "weight offsets"),
        ("point_offset", lambda a: changed(a, -1, 1), "point offsets"),
        ("upper", lambda a: a[:-1], "7 upper"),
        ("centre", lambda a: a[:-1], "7 central"),
        ("column", lambda a: changed(a, 0, 2), "between 0 and 1"),
        ("column", lambda a: changed(a, 0, -1), "between 0 and 1"),
        ("column", lambda a: changed(a, 2, 0), "other nodes none"),
        ("child", lambda a: changed(a, 0, 2), "sum 2 has node 2 as a child"),
        ("child", lambda a: changed(a, 0, -1), "sum 2 has node -1"),
        ("child", lambda a: changed(a, 3, 4), "product 4 has node 4"),
        ("child", lambda a: changed(a, 0, 1), "leaf 0 is no child"),
        ("kind", lambda a: changed(a, 0, SUM), "other nodes none"),
        ("weight_offset", lambda a: np.array([0, 2, 4, 6, 7, 8]), "leaf 3 has 1 weights for 2 values"),
        ("weight_offset", lambda a: np.array([0, 2, 4, 5, 7, 8]), "sum 2 has 1 weights for 2 children"),
        ("set_kind", lambda a: changed(a, 0, 0), "leaf 0 needs a credal set"),
        ("set_kind", lambda a: changed(a, 4, 1), "product 4 has a credal set"),
        ("set_kind", lambda a: changed(a, 1, 2), "leaf 1 has 4 numbers as vertices"),
        ("set_kind", lambda a: changed(a, 0, 3), "leaf 0 has 0 numbers as vertices"),
        ("point_offset", lambda a: np.array([0, 1, 4, 4, 4, 4]), "leaf 0 has 1 numbers as vertices"),
        ("lower", lambda a: changed(a, 0, np.nan), "lower weights"),
        ("lower", lambda a: changed(a, 0, -0.1), "lower weights"),
        ("upper", lambda a: changed(a, 0, 1.1), "upper weights"),
        ("centre", lambda a: changed(a, 0, np.inf), "central|centre weights"),
        ("points", lambda a: changed(a, 0, 2), "points weights"),
        ("lower", lambda a: changed(a, 4, 0.6), r"sum 2: weight 0 is \[0.6, 0.5\]"),
        ("centre", lambda a: changed(a, 4, 0.9), r"sum 2: weight 0 is \[0.2, 0.5\] around 0.9"),
        ("centre", lambda a: changed(a, 4, 0.25), "sum 2: no weights fit.*centre"),
        ("points", lambda a: changed(a, 0, 0.25), "leaf 1: the vertices"),
        ("lower", lambda a: changed(a, 2, 0.1), "leaf 1: the vertices"),
    ],
)
def test_what_is_refused(good, name, change, message):
    with pytest.raises(CircuitError, match=message):
        CircuitArrays.from_mapping({**good, name: change(good[name])})


@pytest.mark.parametrize(("lower", "upper", "centre"), [((0.6, 0.6), (0.6, 0.6), (0.6, 0.6)), ((0.1, 0.1), (0.4, 0.4), (0.4, 0.4))])
def test_empty_sets_of_weights(good, lower, upper, centre):
    new = {name: changed(good[name], slice(4, 6), values) for name, values in (("lower", lower), ("upper", upper), ("centre", centre))}
    with pytest.raises(CircuitError, match="sum 2: no weights fit"):
        CircuitArrays.from_mapping({**good, **new})


def circuit_of(own, **changes):
    """Return the arrays of a circuit of one leaf with some weights replaced."""
    b = CircuitBuilder({"x": len(own)})
    arrays = b.freeze(b.leaf("x", own)).arrays.as_mapping()
    return CircuitArrays.from_mapping({**arrays, **{name: np.array(values) for name, values in changes.items()}})


class TestKindsOfSets:
    """The weights of every set are what its kind says."""

    @pytest.mark.parametrize(
        ("own", "changes", "message"),
        [
            (
                Precise([0.25, 0.75]),
                {"lower": [0.2, 0.75]},
                "leaf 0: weight 0 is [0.2, 0.25] around 0.25, but a precise set has no width; give it as intervals",
            ),
            (
                Precise([0.25, 0.75]),
                {"upper": [0.25, 0.8]},
                "leaf 0: weight 1 is [0.75, 0.8] around 0.75, but a precise set has no width; give it as intervals",
            ),
            (
                Precise([0.25, 0.75]),
                {"centre": [0.25 + 1e-10, 0.75 - 1e-10]},
                "leaf 0: weight 0 is [0.25, 0.25] around 0.2500000001, but a precise set has no width; give it as intervals",
            ),
            (
                Contaminated([0.25, 0.75], 0.4),
                {"upper": [0.6, 0.85]},
                "leaf 0: weight 0 is [0.15, 0.6], but 0.25 contaminated by 0.4 is [0.15, 0.55]",
            ),
            (
                Contaminated([0.25, 0.75], 0.4),
                {"centre": [0.3, 0.7]},
                "leaf 0: weight 0 is [0.15, 0.55], but 0.3 contaminated by 0.4 is [0.18, 0.55]",
            ),
            (
                Vertices([(1, 0, 0), (0, 1, 0), (0, 0.5, 0.5)]),
                {"centre": [0.4, 0.2, 0.4]},
                "leaf 0: the centre is not in the hull of the 3 vertices",
            ),
            (Vertices([(0.3, 0.7), (0.5, 0.5)]), {"centre": [0.6, 0.4]}, "leaf 0: weight 0 is [0.3, 0.5] around 0.6"),
        ],
    )
    def test_weights_of_another_kind(self, own, changes, message):
        with pytest.raises(CircuitError) as caught:
            circuit_of(own, **changes)
        assert str(caught.value) == message

    @pytest.mark.parametrize(
        "own",
        [
            Contaminated([1], 0.5),
            Contaminated([0.1, 0.2, 0.7], 0),
            Contaminated([0.1, 0.2, 0.7], 1),
            Contaminated([1e-300, 1 - 1e-300], 0.3),
            Contaminated(np.full(30_000, 1 / 30_000), 0.37),
            Precise(np.full(30_000, 1 / 30_000)),
            Intervals([0.2, 0.3, 0.2], [0.4, 0.55, 0.48], centre=[0.3, 0.4, 0.3]),
            Vertices([(1, 0, 0), (0, 1, 0), (0, 0.5, 0.5)], centre=[0.2, 0.6, 0.2]),
        ],
        ids=lambda own: f"{type(own).__name__} of {len(own)}",
    )
    def test_sets_that_were_made_pass(self, own):
        b = CircuitBuilder({"x": 2})
        leaf = b.leaf("x", [0.5, 0.5])
        arrays = b.freeze(b.sum([leaf] * len(own), own)).arrays
        assert CircuitArrays.from_mapping(arrays.as_mapping()) == arrays

    @pytest.mark.parametrize("shift", [0, 1e-10, 1e-9])
    def test_rounding_is_no_lie(self, shift):
        assert circuit_of(Contaminated([0.25, 0.75], 0.4), upper=[0.55 + shift, 0.85 - shift]).n_nodes == 1


def test_vertices_must_span_the_intervals_beside_them(good):
    moved = {**good, "points": np.array([0.5, 0.5, 0.5, 0.5])}
    with pytest.raises(CircuitError, match="leaf 1: the vertices"):
        CircuitArrays.from_mapping(moved)


def test_violations_are_facts_of_arrays():
    leaf = NodeSpec(LEAF, 0, (), Precise([0.5, 0.5]))
    other = NodeSpec(LEAF, 1, (), Precise([0.5, 0.5]))
    arrays = assemble(
        [leaf, other, NodeSpec(PRODUCT, children=(0, 0)), NodeSpec(SUM, children=(2, 1), credal_set=Precise([0.5, 0.5]))], (2, 2)
    )
    assert not arrays.is_complete
    assert not arrays.is_decomposable
    assert [(one.node, one.columns) for one in arrays.violations] == [(2, (0,)), (3, (0, 1))]
    assert columns_below(arrays, range(4)) == {2: [0], 3: [0, 1]}
    assert columns_below(arrays, {2}) == {2: [0]}
    assert arrays != "arrays"
    with pytest.raises(TypeError, match="unhashable"):
        hash(arrays)
