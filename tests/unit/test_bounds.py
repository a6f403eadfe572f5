import math
from dataclasses import FrozenInstanceError

import pytest

from credo import Bounds, CredoError
from credo.errors import BoundsError


def test_it_is_a_pair_with_a_width():
    answer = Bounds(0.25, 0.75)
    low, high = answer
    assert (low, high) == (0.25, 0.75)
    assert answer.width == 0.5
    assert answer.exact
    assert answer.inner is None
    assert answer.witness is None


@pytest.mark.parametrize(
    ("value", "inside"), [(0.25, True), (0.5, True), (0.75, True), (0.2499, False), (0.7501, False), (math.nan, False)]
)
def test_its_ends_belong_to_it(value, inside):
    assert (value in Bounds(0.25, 0.75)) == inside


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.41, 0.47, "[0.410, 0.470]"),
        (0, 1, "[0.000, 1.000]"),
        (0.0005, 0.00049, None),
        (0.00049, 0.0005, "[0.00049, 0.001]"),
        (1.25e-30, 0.5, "[1.25e-30, 0.500]"),
        (-2.5, 10, "[-2.500, 10.000]"),
    ],
)
def test_it_prints_as_an_interval(low, high, text):
    if text is None:
        with pytest.raises(BoundsError, match="the lower one not above the upper one"):
            Bounds(low, high)
    else:
        assert str(Bounds(low, high)) == repr(Bounds(low, high)) == text


def test_it_takes_a_format_for_its_ends():
    assert f"{Bounds(0.0957, 0.398):.2f}" == "[0.10, 0.40]"
    assert f"{Bounds(0.25, 0.5):.0%}" == "[25%, 50%]"


def test_it_says_when_it_is_not_exact():
    outer = Bounds(0.1, 0.9, exact=False, inner=(0.2, 0.8), witness="networks")
    assert str(outer) == "[0.100, 0.900] (outer)"
    assert outer.inner == (0.2, 0.8)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.25), (math.nan, 1), (0, math.nan), ("a", "b"), (None, 1)])
def test_it_refuses_crossed_and_undefined_ends(low, high):
    with pytest.raises(BoundsError) as caught:
        Bounds(low, high)
    assert str(caught.value) == f"bounds must be numbers, the lower one not above the upper one; got {low} and {high}"
    assert isinstance(caught.value, CredoError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("inner", [(0.05, 0.2), (0.2, 0.95), (0.3, 0.2), (math.nan, 0.2), (0.2, math.nan), (0.2,), 0.2, ("a", "b")])
def test_what_is_attained_lies_inside_and_in_order(inner):
    with pytest.raises(BoundsError) as caught:
        Bounds(0.1, 0.9, exact=False, inner=inner)
    assert str(caught.value) == f"inner must be a tuple of two numbers in order inside [0.1, 0.9], got {inner!r}"


def test_what_is_attained_may_reach_the_ends():
    assert Bounds(0.1, 0.9, exact=False, inner=(0.1, 0.9)).inner == (0.1, 0.9)


def test_exact_bounds_need_nothing_inside():
    with pytest.raises(BoundsError) as caught:
        Bounds(0.1, 0.9, inner=(0.2, 0.8))
    assert str(caught.value) == "exact bounds are attained themselves: leave out inner=(0.2, 0.8), or set exact=False"


@pytest.mark.parametrize("value", ["x", None, [0.15], (0.1, 0.2)])
def test_what_is_no_number_is_in_no_interval(value):
    assert value not in Bounds(0.1, 0.2)


def test_it_is_a_value():
    assert Bounds(0.25, 0.5) == Bounds(0.25, 0.5)
    assert Bounds(0.25, 0.5) != Bounds(0.25, 0.75)
    assert Bounds(0.25, 0.5) != Bounds(0.25, 0.5, exact=False)
    assert Bounds(0.25, 0.5, witness=1) == Bounds(0.25, 0.5, witness=2)
    with pytest.raises(FrozenInstanceError):
        Bounds(0.25, 0.5).lower = 0
