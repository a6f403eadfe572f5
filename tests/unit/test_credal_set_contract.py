"""What every kind of credal set must offer; a new kind is added to `EXAMPLES`."""

import numpy as np
import pytest

from credo import CircuitBuilder, Contaminated, CredoError, Intervals, Precise, Vertices
from credo.credal_sets import CredalSet

EXAMPLES = [
    Precise([0.5, 0.25, 0.25]),
    Precise([1]),
    Intervals([0.2, 0.3, 0.2], [0.4, 0.55, 0.48]),
    Intervals([0.125, 0.5], [0.5, 0.5]),
    Intervals([0.1, 0.2, 0], [0.5, 0.5, 1], centre=[0.5, 0.5, 0]),
    Vertices([(0.5, 0.5, 0), (0.25, 0.25, 0.5), (0, 1, 0)]),
    Vertices([(0.25, 0.75)]),
    Contaminated([0.5, 0.25, 0.25], 0.2),
    Contaminated([0.75, 0.25], 0),
    Contaminated([0.75, 0.25], 1),
]
KINDS = [Precise, Intervals, Vertices, Contaminated]


@pytest.fixture(params=EXAMPLES, ids=repr)
def credal_set(request):
    return request.param


def test_every_kind_has_an_example():
    assert {type(example) for example in EXAMPLES} == set(KINDS)


def test_it_is_a_credal_set(credal_set):
    assert isinstance(credal_set, CredalSet)
    assert len(credal_set) == len(credal_set.centre)


def test_its_centre_is_inside_and_read_only(credal_set):
    assert credal_set.contains(credal_set.centre)
    assert credal_set.centre.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="read-only"):
        credal_set.centre[0] = 0.5


def test_it_lowers_to_intervals_or_vertices(credal_set):
    lowered = credal_set.lowered()
    assert isinstance(lowered, Intervals | Vertices)
    assert len(lowered) == len(credal_set)
    assert lowered.centre == pytest.approx(credal_set.centre)


def test_its_extreme_points_are_inside(credal_set):
    points = credal_set.extreme_points()
    assert points.ndim == 2
    assert len(points) >= 1
    assert all(credal_set.contains(point) for point in points)


def test_extreme_points_are_a_copy(credal_set):
    before = credal_set.extreme_points().copy()
    credal_set.extreme_points()[:] = 0
    assert np.array_equal(credal_set.extreme_points(), before)


def test_best_points_are_the_best_extreme_points(credal_set):
    values = np.array([0.3, 0.9, 0.1][: len(credal_set)])
    sums = credal_set.extreme_points() @ values
    assert credal_set.best_point(values) @ values == pytest.approx(sums.min())
    assert credal_set.best_point(values, maximum=True) @ values == pytest.approx(sums.max())
    assert credal_set.contains(credal_set.best_point(values))


def test_best_points_are_a_copy(credal_set):
    credal_set.best_point([0.5] * len(credal_set))[:] = 7
    assert credal_set.contains(credal_set.centre)
    assert (credal_set.best_point([0.5] * len(credal_set)) <= 1).all()


def test_its_hull_holds_its_extreme_points(credal_set):
    hull = credal_set.hull()
    assert isinstance(hull, Intervals)
    assert all(hull.contains(point) for point in credal_set.extreme_points())


def test_it_does_not_contain_what_is_no_weight_vector(credal_set):
    n = len(credal_set)
    assert not credal_set.contains(np.full(n, 2.0))
    assert not credal_set.contains(np.full(n, np.nan))
    assert not credal_set.contains(np.full(n, np.inf))
    assert not credal_set.contains([*credal_set.centre, 0.0])
    assert not credal_set.contains([list(credal_set.centre)])


def test_it_answers_with_plain_booleans(credal_set):
    assert credal_set.contains(credal_set.centre) is True
    assert credal_set.contains(np.full(len(credal_set), 2.0)) is False


def test_it_prints_as_it_is_written(credal_set):
    again = eval(repr(credal_set), {kind.__name__: kind for kind in KINDS})
    assert again == credal_set
    assert type(again) is type(credal_set)


def test_equality(credal_set):
    assert [example == credal_set for example in EXAMPLES].count(True) == 1
    assert credal_set != "a string"
    with pytest.raises(TypeError, match="unhashable"):
        hash(credal_set)


def test_it_is_immutable(credal_set):
    name = next(iter(type(credal_set).__dataclass_fields__))
    with pytest.raises(AttributeError):
        setattr(credal_set, name, None)


def test_a_circuit_keeps_it(credal_set):
    b = CircuitBuilder({"x": 2})
    leaves = [b.leaf("x", [share, 1 - share]) for share in (0.25, 0.5, 0.75)][: len(credal_set)]
    circuit = b.freeze(b.sum(leaves, credal_set))
    kept = circuit.arrays.credal_set(circuit.arrays.root)
    assert type(kept) is type(credal_set)
    assert kept.centre == pytest.approx(credal_set.centre)
    assert kept.extreme_points() == pytest.approx(credal_set.extreme_points())


@pytest.mark.parametrize("kind", KINDS)
class TestFromCounts:
    def test_nothing_missing(self, kind):
        made = kind.from_counts([3, 1])
        assert isinstance(made, kind)
        assert made.centre == pytest.approx([0.75, 0.25])
        assert made.extreme_points() == pytest.approx(np.array([[0.75, 0.25]]))

    def test_smoothing_is_added_to_every_value(self, kind):
        assert kind.from_counts([3, 0], smoothing=0.5).centre == pytest.approx([0.875, 0.125])

    def test_missing_values_may_be_any(self, kind):
        if kind is Precise:
            with pytest.raises(CredoError, match="1 missing values"):
                kind.from_counts([3, 0], missing=1)
            return
        made = kind.from_counts([3, 0, 1], missing=4, smoothing=1)
        hull = made.hull()
        assert hull.lower == pytest.approx(np.array([4, 1, 2]) / 11)
        assert hull.upper == pytest.approx(np.array([8, 5, 6]) / 11)
        assert made.centre == pytest.approx(np.array([4, 1, 2]) / 7)

    @pytest.mark.parametrize("missing", [0, 5])
    def test_nothing_known_leaves_everything_open(self, kind, missing):
        if kind is Precise:
            with pytest.raises(CredoError, match="open"):
                kind.from_counts([0, 0, 0], missing=missing)
            return
        hull = kind.from_counts([0, 0, 0], missing=missing).hull()
        assert (hull.lower == 0).all()
        assert (hull.upper == 1).all()
        assert hull.centre == pytest.approx([1 / 3] * 3)

    @pytest.mark.parametrize(
        ("known", "missing", "smoothing", "message"),
        [
            ([-1, 2], 0, 0, "-1"),
            ([1, 2], -3, 0, "-3"),
            ([1, 2], 0, -0.5, "-0.5"),
            ([], 0, 0, "non-empty"),
            ([[1, 2]], 0, 0, "list of numbers"),
            ([1, np.nan], 0, 0, "nan"),
            (["many", 1], 0, 0, "many"),
        ],
    )
    def test_counts_that_are_none(self, kind, known, missing, smoothing, message):
        with pytest.raises(CredoError, match=message):
            kind.from_counts(known, missing=missing, smoothing=smoothing)
