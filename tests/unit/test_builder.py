"""Misuse of the builder, what freezing leaves out, and circuits that are none."""

import numpy as np
import pytest

from credo import Circuit, CircuitBuilder, Contaminated, CredoError, Intervals, Precise, Schema, Vertices
from credo.errors import CircuitError, CredalSetError, SchemaError


@pytest.fixture
def b():
    return CircuitBuilder({"x": 2, "y": ["no", "yes"], "z": 3})


class TestMisuse:
    @pytest.mark.parametrize(
        ("use", "error", "parts"),
        [
            (lambda b: b.leaf("w", [0.5, 0.5]), SchemaError, ["leaf 0: there is no column 'w'; the columns are x, y, z"]),
            (lambda b: b.leaf("x", [0.2, 0.3, 0.5]), CircuitError, ["leaf 0", "'x'", "2 values", "3 weights"]),
            (lambda b: b.leaf("z", Intervals([0.2, 0.3], [0.7, 0.8])), CircuitError, ["leaf 0", "'z'", "3 values", "2 weights"]),
            (lambda b: b.leaf("x", [0.5, 0.6]), CredalSetError, ["leaf 0", "[0.5, 0.6]", "1.1"]),
            (lambda b: b.leaf("x", None), CredalSetError, ["leaf 0", "None"]),
            (lambda b: b.leaf("x", "half"), CredalSetError, ["leaf 0", "half"]),
            (lambda b: b.indicator("x", 2), SchemaError, ["leaf 0: column 'x' has no value 2; it has the codes 0 to 1"]),
            (lambda b: b.indicator("y", 1), SchemaError, ["leaf 0: column 'y' has no value 1; it has no, yes"]),
            (lambda b: b.indicator("w", 1), SchemaError, ["leaf 0: there is no column 'w'; the columns are x, y, z"]),
            (lambda b: b.sum([], [1.0]), CircuitError, ["sum 0", "no children"]),
            (lambda b: b.product([]), CircuitError, ["product 0", "no children"]),
            (lambda b: b.sum([b.indicator("x", 0)], [0.5, 0.5]), CircuitError, ["sum 1", "1 children", "2 weights"]),
            (lambda b: b.sum([b.indicator("x", 0), b.indicator("x", 1)], [0.5, 0.6]), CredalSetError, ["sum 2", "[0.5, 0.6]"]),
            (lambda b: b.product([b.indicator("x", 0), 0]), CircuitError, ["product 1", "got 0"]),
            (lambda b: b.product(3), CircuitError, ["product 0", "got 3"]),
            (lambda b: b.sum(["x"], [1.0]), CircuitError, ["sum 0", "'x'"]),
            (lambda b: b.freeze(None), CircuitError, ["the root must be a node made by this builder, got None"]),
            (lambda b: b.freeze([b.indicator("x", 0)]), CircuitError, ["the root must be a node made by this builder, got [leaf 0]"]),
            (
                lambda b: b.product([CircuitBuilder({"x": 2}).indicator("x", 0)]),
                CircuitError,
                ["product 0: a child must be a node made by this builder, but leaf 0 was made by another one"],
            ),
            (
                lambda b: b.freeze(CircuitBuilder({"x": 2}).indicator("x", 0)),
                CircuitError,
                ["the root must be a node made by this builder, but leaf 0 was made by another one"],
            ),
            (
                lambda b: b.sum({b.indicator("x", 0), b.indicator("x", 1)}, [0.3, 0.7]),
                CircuitError,
                ["sum 2: the children are a set, which has no order; use a list"],
            ),
            (
                lambda b: b.product(frozenset({b.indicator("x", 0)})),
                CircuitError,
                ["product 1: the children are a set, which has no order; use a list"],
            ),
            (
                lambda b: b.leaf("x", Precise),
                CredalSetError,
                ["leaf 0: the weights must be a credal set or numbers, got the class Precise itself; call it with numbers"],
            ),
            (lambda b: b.sum([b.indicator("x", 0)], Vertices), CredalSetError, ["sum 1: the weights", "got the class Vertices itself"]),
        ],
    )
    def test_messages(self, b, use, error, parts):
        with pytest.raises(error) as caught:
            use(b)
        assert isinstance(caught.value, CredoError)
        for part in parts:
            assert part in str(caught.value)

    @pytest.mark.parametrize("labels", [{"a", "b"}, frozenset({"a", "b"})])
    def test_labels_without_an_order(self, labels):
        with pytest.raises(SchemaError) as caught:
            CircuitBuilder({"x": labels})
        assert str(caught.value) == "column 'x': the labels are a set, which has no order, so their codes would be arbitrary; use a list"

    def test_a_refused_node_leaves_no_trace(self, b):
        with pytest.raises(CircuitError):
            b.leaf("x", [0.2, 0.3, 0.5])
        assert repr(b.leaf("x", [0.5, 0.5])) == "leaf 0"

    def test_nodes_print_as_messages_name_them(self, b):
        leaf = b.indicator("x", 0)
        assert [repr(node) for node in (leaf, b.sum([leaf], [1]), b.product([leaf]))] == ["leaf 0", "sum 1", "product 2"]


class TestViolations:
    def test_products_name_the_columns_that_are_in_two_children(self, b):
        both = b.product([b.indicator("x", 0), b.indicator("y", "no")])
        wrong = b.product([both, b.indicator("y", "yes"), b.indicator("z", 0)])
        with pytest.raises(CircuitError, match=r"^product 5: columns \{y\} are in two children$"):
            b.freeze(wrong)

    def test_sums_name_the_columns_that_are_missing_somewhere(self, b):
        wide = b.product([b.indicator("x", 0), b.indicator("y", "no"), b.indicator("z", 1)])
        wrong = b.sum([wide, b.indicator("x", 1)], [0.5, 0.5])
        with pytest.raises(CircuitError, match=r"^sum 5: columns \{y, z\} are in some children and not in others$"):
            b.freeze(wrong)

    def test_leaves_of_different_columns_under_a_sum(self, b):
        with pytest.raises(CircuitError, match=r"sum 2: columns \{x, z\}"):
            b.freeze(b.sum([b.indicator("x", 0), b.indicator("z", 0)], [0.5, 0.5]))

    def test_inner_nodes_of_different_columns_under_a_sum(self, b):
        first, second = b.sum([b.indicator("x", 0)], [1]), b.sum([b.indicator("y", "no")], [1])
        with pytest.raises(CircuitError, match=r"sum 4: columns \{x, y\}"):
            b.freeze(b.sum([first, second], [0.5, 0.5]))

    def test_one_child_twice_in_a_product(self, b):
        leaf = b.indicator("x", 0)
        with pytest.raises(CircuitError, match=r"product 1: columns \{x\}"):
            b.freeze(b.product([leaf, leaf]))
        inner = b.product([b.indicator("y", "no"), leaf])
        with pytest.raises(CircuitError, match=r"product 4: columns \{x, y\}"):
            b.freeze(b.product([inner, inner]))

    def test_all_violations_are_told_at_once(self, b):
        product = b.product([b.indicator("x", 0), b.indicator("x", 1)])
        with pytest.raises(CircuitError) as caught:
            b.freeze(b.sum([product, b.indicator("y", "no")], [0.5, 0.5]))
        assert str(caught.value).splitlines() == [
            "product 2: columns {x} are in two children",
            "sum 4: columns {x, y} are in some children and not in others",
        ]

    def test_numbers_in_messages_count_unused_nodes(self, b):
        b.indicator("z", 0)
        leaf = b.indicator("x", 0)
        with pytest.raises(CircuitError, match="product 2"):
            b.freeze(b.product([leaf, leaf]))

    def test_violations_out_of_reach_do_not_matter(self, b):
        leaf = b.indicator("x", 0)
        b.product([leaf, leaf])
        assert b.freeze(leaf).n_nodes == 1

    def test_more_than_eight_columns(self):
        wide = CircuitBuilder({f"x{i}": 2 for i in range(20)})
        left = wide.product([wide.indicator(f"x{i}", 0) for i in range(12)])
        right = wide.product([wide.indicator(f"x{i}", 0) for i in range(9, 20)])
        with pytest.raises(CircuitError, match=r"columns \{x9, x10, x11\} are in two children"):
            wide.freeze(wide.product([left, right]))
        with pytest.raises(CircuitError, match=r"columns \{x0, .*x8, x12, .*x19\} are in some"):
            wide.freeze(wide.sum([left, right], [0.5, 0.5]))


class TestFreeze:
    def test_unreachable_nodes_are_left_out(self, b):
        b.sum([b.indicator("z", 0), b.indicator("z", 1)], [0.5, 0.5])
        left = b.leaf("x", [0.25, 0.75])
        b.indicator("y", "no")
        right = b.leaf("y", Intervals([0.2, 0.5], [0.5, 0.8]))
        circuit = b.freeze(b.product([left, right]))
        assert circuit.n_nodes == 3
        assert circuit.n_edges == 2
        assert tuple(circuit.probability({"x": 1, "y": "no"})) == pytest.approx((0.15, 0.375))
        assert tuple(circuit.probability({"z": 1})) == (1, 1), "a column without nodes says nothing"

    def test_a_builder_goes_on_after_freezing(self, b):
        leaf = b.leaf("x", [0.25, 0.75])
        first = b.freeze(leaf)
        second = b.freeze(b.product([leaf, b.indicator("y", "no")]))
        assert (first.n_nodes, second.n_nodes) == (1, 3)
        assert b.freeze(leaf) == first

    def test_shared_nodes_stay_shared(self, b):
        shared = b.leaf("y", Intervals([0.2, 0.5], [0.5, 0.8]))
        parts = [b.product([b.indicator("x", code), shared]) for code in (0, 1)]
        circuit = b.freeze(b.sum(parts, [0.5, 0.5]))
        assert circuit.n_nodes == 6
        assert not circuit.is_tree

    def test_children_come_from_any_iterable(self, b):
        circuit = b.freeze(b.sum((b.indicator("x", code) for code in (0, 1)), (0.25, 0.75)))
        assert circuit.probability({"x": 1}).lower == 0.75

    def test_a_schema_will_do_for_columns(self):
        schema = Schema.of({"x": 2})
        builder = CircuitBuilder(schema)
        assert builder.freeze(builder.leaf("x", [0.5, 0.5])).schema == schema

    @pytest.mark.parametrize("weights", [[0.25, 0.75], (0.25, 0.75), np.array([0.25, 0.75]), Precise([0.25, 0.75])])
    def test_plain_numbers_are_precise_weights(self, b, weights):
        assert b.freeze(b.leaf("x", weights)) == b.freeze(b.leaf("x", Precise([0.25, 0.75])))

    def test_single_children(self, b):
        for own in (Precise([1]), Intervals([1], [1]), Intervals([0], [1]), Vertices([[1]]), Contaminated([1], 0.5)):
            circuit = b.freeze(b.product([b.sum([b.leaf("x", [0.25, 0.75])], own)]))
            assert tuple(circuit.probability({"x": 1})) == pytest.approx((0.75, 0.75))


class TestOtherKinds:
    def test_a_new_kind_of_set_is_used_through_what_it_lowers_to(self, b):
        class Halved:
            """Anything within half of a weight vector."""

            centre = np.array([0.4, 0.6])

            @classmethod
            def from_counts(cls, known, missing=0, smoothing=0):
                return cls()

            def lowered(self):
                return Intervals([0.2, 0.3], [0.7, 0.8], self.centre)

            def contains(self, point, tolerance=1e-9):
                return self.lowered().contains(point, tolerance)

        circuit = b.freeze(b.leaf("x", Halved()))
        assert tuple(circuit.probability({"x": 0})) == pytest.approx((0.2, 0.7))
        assert circuit.arrays.credal_set(0) == Intervals([0.2, 0.3], [0.7, 0.8])


class TestCircuit:
    def test_a_schema_must_fit(self, b):
        circuit = b.freeze(b.leaf("x", [0.5, 0.5]))
        with pytest.raises(CircuitError, match=r"\(2, 2\).*\(2, 2, 3\)"):
            Circuit(circuit.arrays, Schema.of({"x": 2, "y": 2}))

    def test_equality(self, b):
        circuit = b.freeze(b.leaf("x", [0.5, 0.5]))
        assert circuit == b.freeze(b.leaf("x", [0.5, 0.5]))
        assert circuit != b.freeze(b.leaf("x", [0.5, 0.5 + 1e-13]))
        assert circuit != b.freeze(b.leaf("x", Intervals([0.5, 0.5], [0.5, 0.5])))
        assert circuit != Circuit(circuit.arrays, Schema.of({"a": 2, "y": 2, "z": 3}))
        assert circuit != "a circuit"
        with pytest.raises(TypeError, match="unhashable"):
            hash(circuit)

    def test_printing(self, b):
        leaf = b.leaf("x", [0.5, 0.5])
        assert repr(b.freeze(leaf)) == "Circuit(1 node, 0 edges; precise, tree; x: 2 values; y: no | yes; z: 3 values)"
        wide = CircuitBuilder({f"x{i}": 2 for i in range(9)})
        assert repr(wide.freeze(wide.indicator("x0", 0))).endswith("x5: 2 values; ... 9 columns)")
