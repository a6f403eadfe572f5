"""Malformed credal sets: the message shows the numbers that are wrong."""

import copy
import pickle

import numpy as np
import pytest

from credo import Contaminated, CredoError, Intervals, Precise, Vertices
from credo.errors import CredalSetError


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: Precise([0.5, 0.6]), ["0.5, 0.6", "1.1"]),
        (lambda: Precise([1.5, -0.5]), ["1.5, -0.5", "negative"]),
        (lambda: Precise([0.5, np.nan]), ["0.5, nan", "finite"]),
        (lambda: Precise([np.inf, 0.5]), ["inf", "finite"]),
        (lambda: Precise([]), ["non-empty", "[]"]),
        (lambda: Precise(0.5), ["non-empty list", "0.5"]),
        (lambda: Precise([[0.5, 0.5]]), ["list of numbers", "[[0.5, 0.5]]"]),
        (lambda: Precise(["a", "b"]), ["numbers", "['a', 'b']"]),
        (lambda: Precise(None), ["None"]),
        (lambda: Precise([1] * 30), ["30 in all", "30"]),
        (lambda: Intervals([0.2, 0.3], [0.4, 0.5]), ["[0.2, 0.4] [0.3, 0.5]", "0.5", "0.9", "no weights fit"]),
        (lambda: Intervals([0.7, 0.6], [0.9, 0.9]), ["[0.7, 0.9] [0.6, 0.9]", "1.3", "1.8"]),
        (lambda: Intervals([0.2, 0.5], [0.6, 0.4]), ["interval 1", "[0.5, 0.4]"]),
        (lambda: Intervals([-0.2, 0.5], [0.6, 0.6]), ["interval 0", "[-0.2, 0.6]"]),
        (lambda: Intervals([0.2, 0.5], [0.6, 1.1]), ["interval 1", "[0.5, 1.1]"]),
        (lambda: Intervals([0.2, 0.5, 0.1], [0.6, 0.9]), ["3 lower", "2 upper"]),
        (lambda: Intervals([0.2, np.nan], [0.6, 0.9]), ["lower bounds", "nan"]),
        (lambda: Intervals(["low"], [1]), ["lower bounds", "low"]),
        (lambda: Intervals([0.2, 0.5], [0.5, 0.8], centre=[0.6, 0.4]), ["centre", "[0.6, 0.4]", "[0.2, 0.5] [0.5, 0.8]"]),
        (lambda: Intervals([0.2, 0.5], [0.5, 0.8], centre=[0.5]), ["centre", "[0.5]"]),
        (lambda: Intervals([0.2, 0.5], [0.5, 0.8], centre=[0.3, 0.3]), ["centre", "[0.3, 0.3]"]),
        (lambda: Intervals([0.5] * 20, [0.6] * 20), ["20 in all", "10", "12"]),
        (lambda: Vertices([(0.5, 0.5), (0.5, 0.6)]), ["vertex 1", "[0.5, 0.6]", "1.1"]),
        (lambda: Vertices([(0.5, 0.5), (1.5, -0.5)]), ["vertex 1", "[1.5, -0.5]", "negative"]),
        (lambda: Vertices([0.5, 0.5]), ["list of lists", "[0.5, 0.5]"]),
        (lambda: Vertices([]), ["non-empty"]),
        (lambda: Vertices([(0.5, 0.5), (1,)]), ["equally long", "(1,)"]),
        (lambda: Vertices([(0.5, np.nan)]), ["nan"]),
        (lambda: Vertices([(0.3, 0.7), (0.4, 0.6)], centre=[0.5, 0.5]), ["centre", "[0.5, 0.5]", "2 vertices"]),
        (lambda: Vertices([(0.3, 0.7)], centre=[0.5, 0.6]), ["centre", "1.1"]),
        (lambda: Contaminated([0.5, 0.6], 0.1), ["0.5, 0.6", "1.1"]),
        (lambda: Contaminated([0.5, 0.5], 1.1), ["epsilon", "1.1"]),
        (lambda: Contaminated([0.5, 0.5], -0.1), ["epsilon", "-0.1"]),
        (lambda: Contaminated([0.5, 0.5], np.nan), ["epsilon", "nan"]),
        (lambda: Intervals([0] * 13, [1] * 13).extreme_points(), ["13", "12", "limited_extreme_points"]),
        (lambda: Intervals([0] * 13, [1] * 13).to_vertices(), ["13", "12"]),
    ],
)
def test_the_message_shows_what_is_wrong(make, shown):
    with pytest.raises(CredalSetError) as caught:
        make()
    assert isinstance(caught.value, CredoError)
    assert isinstance(caught.value, ValueError)
    for part in shown:
        assert part in str(caught.value)


def test_twelve_intervals_can_be_enumerated():
    assert len(Intervals([0] * 12, [1] * 12).extreme_points()) == 12


@pytest.mark.parametrize("excess", [4e-10, -4e-10])
@pytest.mark.parametrize(
    "make", [lambda w: Precise(w), lambda w: Vertices([w]), lambda w: Contaminated(w, 0.1)], ids=["precise", "vertices", "contaminated"]
)
@pytest.mark.parametrize("weights", [[0.5, 0.5], [1.0, 0.0], [1.0]])
def test_rounding_in_written_weights_is_accepted_everywhere(make, weights, excess):
    from credo import CircuitBuilder

    written = np.array(weights)
    written[0] += excess
    own = make(written)
    b = CircuitBuilder({"x": 2})
    circuit = b.freeze(b.sum([b.leaf("x", [0.25, 0.75])] * len(weights), own))
    assert np.exp(circuit.log_bounds([[1]])) == pytest.approx(np.array([[0.75, 0.75]]), abs=1e-8)


@pytest.mark.parametrize(
    "own", [Intervals([0.2, 0.3, 0.2], [0.4, 0.55, 0.48]), Contaminated([0.5, 0.25, 0.25], 0.25), Contaminated([0.5, 0.5], 0)], ids=repr
)
def test_to_vertices_gives_the_same_set(own):
    as_vertices = own.to_vertices()
    assert isinstance(as_vertices, Vertices)
    assert as_vertices.centre == pytest.approx(own.centre)
    assert as_vertices.hull().lower == pytest.approx(own.lowered().lower)
    assert as_vertices.hull().upper == pytest.approx(own.lowered().upper)


def test_repeated_vertices_are_one_extreme_point():
    assert Vertices([(0.5, 0.5), (0.5, 0.5), (0.5, 0.5 + 1e-14)]).extreme_points().tolist() == [[0.5, 0.5]]


def test_arrays_given_to_a_set_are_copied():
    given = np.array([0.5, 0.5])
    own = Precise(given)
    given[0] = 0.9
    assert own.weights.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        own.weights[0] = 0.9


ONE_OF_EACH = [Precise([0.25, 0.75]), Intervals([0, 0.5], [0.5, 1]), Vertices([(0.1, 0.9), (0.5, 0.5)]), Contaminated([0.25, 0.75], 0.2)]


@pytest.mark.parametrize("own", ONE_OF_EACH, ids=repr)
def test_copies_of_a_set_are_equal_and_cannot_be_written_to(own):
    for other in (pickle.loads(pickle.dumps(own)), copy.deepcopy(own), copy.copy(own)):
        assert other == own
        assert (other.centre == own.centre).all()
        with pytest.raises(ValueError, match="WRITEABLE"):
            other.centre.setflags(write=True)


@pytest.mark.parametrize("own", ONE_OF_EACH, ids=repr)
@pytest.mark.parametrize(
    ("values", "shown"), [([1, 2, 3], "2 weights but 3 values"), ([np.nan, 1], "must be finite"), (["a", "b"], "must be numbers")]
)
def test_values_that_do_not_fit_are_refused(own, values, shown):
    with pytest.raises(CredalSetError, match=shown):
        own.best_point(values)


@pytest.mark.parametrize("epsilon", ["a", None, [0.1, 0.1], True, -0.1, 1.1, np.nan])
def test_a_share_that_is_none_is_refused(epsilon):
    with pytest.raises(CredalSetError, match=r"epsilon must be a number in \[0, 1\], got"):
        Contaminated([0.5, 0.5], epsilon)


@pytest.mark.parametrize("missing", [np.nan, np.inf])
def test_counts_that_are_not_finite_are_refused(missing):
    with pytest.raises(CredalSetError, match="missing and smoothing must be finite"):
        Intervals.from_counts([1, 2], missing)


def test_weights_beyond_all_bounds_are_refused_without_a_warning():
    with pytest.raises(CredalSetError, match="add to inf"):
        Precise([1e308, 1e308])
