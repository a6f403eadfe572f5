import numpy as np
import pytest

from credo import CredoError, Schema
from credo.errors import EvidenceError, SchemaError
from credo.table.schema import MOST_VALUES, Column


def test_columns_keep_their_order():
    schema = Schema.of({"b": 3, "a": ["no", "yes"]})
    assert schema.names == ("b", "a")
    assert schema.sizes == (3, 2)
    assert len(schema) == 2
    assert [column.name for column in schema] == ["b", "a"]
    assert schema.position("a") == 1
    assert repr(schema) == "Schema(b: 3 values; a: no | yes)"


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        ({}, ["at least one column"]),
        ([("x", 2)], ["mapping", "[('x', 2)]"]),
        ({"": 2}, ["non-empty string", "''"]),
        ({3: 2}, ["non-empty string", "3"]),
        ({"x": 1}, ["'x'", "between 2 and", "got 1"]),
        ({"x": -2}, ["'x'", "got -2"]),
        ({"x": MOST_VALUES + 1}, ["'x'", str(MOST_VALUES), str(MOST_VALUES + 1)]),
        ({"x": 2.5}, ["'x'", "2.5"]),
        ({"x": "no"}, ["'x'", "'no'"]),
        ({"x": None}, ["'x'", "None"]),
        ({"x": ["only"]}, ["'x'", "got 1"]),
        ({"x": ["no", "yes", "no"]}, ["'x'", "twice", "no"]),
        ({"x": [1, 1.0]}, ["'x'", "twice"]),
        ({"x": {"a", "b"}}, ["'x'", "a set", "use a list"]),
        ({"x": ["a", None]}, ["'x'", "None"]),
        ({"x": ["a", float("nan")]}, ["'x'", "nan"]),
        ({"x": ["a", ("b",)]}, ["'x'", "('b',)"]),
    ],
)
def test_what_is_no_schema(columns, parts):
    with pytest.raises(SchemaError) as caught:
        Schema.of(columns)
    for part in parts:
        assert part in str(caught.value)


def test_names_must_differ():
    with pytest.raises(SchemaError, match="x more than once"):
        Schema((Column("x", 2), Column("y", 2), Column("x", 3)))


def test_labels_must_be_as_many_as_values():
    with pytest.raises(SchemaError, match="3 values but 2 labels"):
        Column("x", 3, ("a", "b"))


@pytest.mark.parametrize("name", ["z", 1, None, ["x"], ("x",)])
def test_unknown_columns_list_the_known_ones(name):
    with pytest.raises(EvidenceError) as caught:
        Schema.of({"x": 2, "y": 2}).position(name)
    assert repr(name) in str(caught.value)
    assert "x, y" in str(caught.value)


def test_long_lists_are_shortened():
    schema = Schema.of({f"x{i}": 2 for i in range(40)})
    with pytest.raises(EvidenceError, match=r"x9, \.\.\. 40 in all"):
        schema.position("y")


class Impostor:
    """What says that it is a text."""

    def __init__(self, text):
        self.text = text

    def __eq__(self, other):
        return other == self.text

    def __hash__(self):
        return hash(self.text)


class TestCodes:
    @pytest.mark.parametrize(
        ("labels", "value", "code"),
        [
            (("no", "yes"), "yes", 1),
            ((False, True), True, 1),
            ((3, 1), 1, 1),
            ((3, 1), 1.0, 1),
            ((3, 1), np.int64(3), 0),
            ((0.5, 1.5), np.float32(1.5), 1),
            (("1", 1), 1, 1),
            (("1", 1), "1", 0),
            (("a", "b"), np.str_("b"), 1),
            (("a", "b"), np.array("b"), 1),
            ((3, 1), np.array(1), 1),
            ((0, 2), False, 0),
            ((0, True), 1.0, 1),
            (None, 1, 1),
            (None, True, 1),
            (None, np.uint8(1), 1),
            (None, np.bool_(False), 0),
        ],
    )
    def test_a_label_wins_over_a_code(self, labels, value, code):
        assert Column("x", 2, labels).code(value) == code

    @pytest.mark.parametrize(
        ("labels", "value", "parts"),
        [
            (("no", "yes"), "maybe", ["'x'", "'maybe'", "no, yes"]),
            (("no", "yes"), 1, ["'x'", "1", "no, yes"]),
            (("no", "yes"), None, ["None"]),
            (("0", "1"), 1, ["1", "0, 1"]),
            (("no", "yes"), ["no"], ["['no']"]),
            (("no", "yes"), np.array(["no", "yes"]), ["no, yes"]),
            (("1", "2"), Impostor("1"), ["1, 2"]),
            (None, 2, ["'x'", "2", "0 to 1"]),
            (None, -1, ["-1", "0 to 1"]),
            (None, 1.0, ["1.0", "0 to 1"]),
            (None, "1", ["'1'", "0 to 1"]),
            (None, float("nan"), ["nan"]),
        ],
    )
    def test_unknown_values_list_the_known_ones(self, labels, value, parts):
        with pytest.raises(EvidenceError) as caught:
            Column("x", 2, labels).code(value)
        assert isinstance(caught.value, CredoError)
        for part in parts:
            assert part in str(caught.value)

    def test_labels_are_not_searched_one_by_one(self):
        class Label(str):
            compared = 0

            def __eq__(self, other):
                Label.compared += 1
                return str.__eq__(self, other)

            __hash__ = str.__hash__

        column = Column("x", 1000, tuple(Label(f"v{k}") for k in range(1000)))
        assert column.code("v999") == 999
        Label.compared = 0
        assert [column.code(f"v{k}") for k in range(1000)] == list(range(1000))
        assert Label.compared < 10_000

    def test_codes_are_shown_as_labels(self):
        assert Column("x", 2, ("no", "yes")).shown(1) == "yes"
        assert Column("x", 2).shown(1) == "1"


def test_equal_schemas():
    assert Schema.of({"x": 2}) == Schema.of({"x": 2})
    assert Schema.of({"x": 2}) != Schema.of({"x": 3})
    assert Schema.of({"x": 2}) != Schema.of({"x": [0, 1]})
    schema = Schema.of({"x": 2})
    schema.position("x")
    assert schema == Schema.of({"x": 2}), "what is remembered for speed does not count"
    column = Column("x", 2, ("a", "b"))
    column.code("a")
    assert column == Column("x", 2, ("a", "b"))


def test_numpy_sizes_and_labels():
    schema = Schema.of({"x": np.int32(3), "y": np.array(["a", "b"]), "z": range(4)})
    assert schema.sizes == (3, 2, 4)
    assert schema.columns[1].labels == ("a", "b")
    assert all(type(label) is int for label in schema.columns[2].labels)
