"""What holds of every credal set."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from credo import Contaminated, Intervals, Precise, Vertices
from reference import credal
from reference.credal import Box, Hull
from tests.random_circuits import random_point_of, to_credo
from tests.strategies import any_boxes, any_credal_sets, generators, sizes

counts = st.lists(st.integers(0, 1000), min_size=1, max_size=7).filter(any)


def same_points(found, expected):
    """Assert that two lists hold the same points, in any order."""
    found, expected = np.atleast_2d(found), np.atleast_2d(expected)
    assert found.shape == expected.shape
    apart = np.abs(found[:, None] - expected[None]).max(axis=2)
    assert (apart.min(axis=0) < 1e-10).all()
    assert (apart.min(axis=1) < 1e-10).all()


class TestIntervals:
    @given(any_boxes)
    def test_extreme_points_are_those_of_filling_in_every_order(self, box):
        assume(all(high - low == 0 or high - low > 1e-9 for low, high in zip(box.lower, box.upper, strict=True)))
        assume(abs(1 - sum(box.lower)) > 1e-9)
        same_points(to_credo(box).extreme_points(), credal.extreme_points(box.lower, box.upper))

    @given(any_boxes)
    def test_extreme_points_lie_inside_and_add_to_one(self, box):
        intervals = to_credo(box)
        found = intervals.extreme_points()
        assert len(found) >= 1
        assert found.sum(axis=1) == pytest.approx(np.ones(len(found)), abs=1e-9)
        assert all(intervals.contains(point) for point in found)

    @given(any_boxes)
    def test_limited_points_are_those_of_the_cyclic_rule(self, box):
        intervals = to_credo(box)
        found = intervals.limited_extreme_points()
        assert len(found) <= len(box.lower)
        for point, expected in zip(found, credal.limited_extreme_points(box.lower, box.upper), strict=False):
            assert point == pytest.approx(expected, abs=1e-9)

    @given(any_boxes)
    def test_limited_points_lie_inside_and_among_the_extreme_ones(self, box):
        intervals = to_credo(box)
        every = np.array(credal.extreme_points(box.lower, box.upper))
        for point in intervals.limited_extreme_points():
            assert intervals.contains(point)
            assert np.abs(every - point).max(axis=1).min() < 1e-9

    @given(any_boxes)
    def test_tightening_gives_the_range_of_the_extreme_points(self, box):
        tight = to_credo(box).tightened()
        low, high = credal.tightened(box.lower, box.upper)
        assert tight.lower == pytest.approx(low, abs=1e-11)
        assert tight.upper == pytest.approx(high, abs=1e-11)

    @given(any_boxes)
    def test_tightening_keeps_every_point(self, box):
        intervals = to_credo(box)
        tight = intervals.tightened()
        assert (tight.lower <= tight.upper).all()
        assert (tight.lower >= intervals.lower).all()
        assert (tight.upper <= intervals.upper).all()
        assert tight.is_reachable
        assert tight.tightened() == tight
        assert all(tight.contains(point, tolerance=1e-11) for point in credal.extreme_points(box.lower, box.upper))

    @given(any_boxes)
    def test_being_reachable(self, box):
        assume(credal.is_reachable(box.lower, box.upper, 1e-13) == credal.is_reachable(box.lower, box.upper, 1e-11))
        assert to_credo(box).is_reachable == credal.is_reachable(box.lower, box.upper)

    @given(counts)
    def test_tightening_proportions_without_gaps_changes_nothing(self, known):
        proportions = np.array(known) / sum(known)
        intervals = Intervals(proportions, proportions)
        tight = intervals.tightened()
        assert tight == intervals
        assert intervals.is_reachable
        assert (tight.lower <= tight.upper).all()

    @given(counts, st.integers(0, 500))
    def test_intervals_from_counts_hold_every_completion(self, known, missing):
        intervals = Intervals.from_counts(known, missing)
        total = sum(known) + missing
        assert intervals.is_reachable
        for at in range(len(known)):
            completed = [Fraction(count + (missing if at == k else 0), total) for k, count in enumerate(known)]
            assert intervals.contains([float(share) for share in completed], tolerance=1e-12)
            assert intervals.upper[at] == pytest.approx(float(completed[at]), abs=1e-15)
            only = len(known) == 1  # what is missing can only be the one value there is
            assert intervals.lower[at] == pytest.approx(1.0 if only else known[at] / total, abs=1e-15)


class TestEveryKind:
    @given(any_credal_sets, generators)
    def test_it_holds_its_mixtures_and_its_centre(self, described, rng):
        credal_set = to_credo(described)
        assert credal_set.contains(credal_set.centre)
        assert credal_set.contains(random_point_of(rng, described))

    @given(any_credal_sets, st.data())
    def test_best_point_is_the_best_extreme_point(self, described, data):
        credal_set = to_credo(described)
        n = credal.n_weights(described)
        values = data.draw(st.lists(st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0, 1)), min_size=n, max_size=n))
        for maximum in (False, True):
            best = credal_set.best_point(values, maximum=maximum)
            assert credal_set.contains(best)
            assert best @ np.array(values) == pytest.approx(credal.best_sum(described, values, maximum), abs=1e-9)

    @given(any_credal_sets)
    def test_the_hull_is_the_range_of_the_extreme_points(self, described):
        hull = to_credo(described).hull().tightened()
        every = np.array(credal.vertices(described))
        assert hull.lower == pytest.approx(every.min(axis=0), abs=1e-9)
        assert hull.upper == pytest.approx(every.max(axis=0), abs=1e-9)

    @given(any_credal_sets)
    def test_extreme_points_are_enough(self, described):
        credal_set = to_credo(described)
        every = np.array(credal.vertices(described))
        found = credal_set.extreme_points()
        assert all(np.abs(every - point).max(axis=1).min() < 1e-9 for point in found)
        hull = Vertices(found)
        assert all(hull.contains(point, tolerance=1e-8) for point in every)

    @given(any_credal_sets, generators)
    def test_what_lies_outside_the_hull_is_not_inside(self, described, rng):
        credal_set = to_credo(described)
        point = rng.dirichlet(np.ones(credal.n_weights(described)))
        hull = credal_set.hull().tightened()
        assume(((point < hull.lower - 1e-6) | (point > hull.upper + 1e-6)).any())
        assert not credal_set.contains(point)

    @given(any_credal_sets, generators)
    def test_containing_agrees_with_the_definition(self, described, rng):
        assume(not isinstance(described, Hull))
        credal_set = to_credo(described)
        point = tuple(rng.dirichlet(np.ones(credal.n_weights(described))).tolist())
        assume(credal.contains(described, point, 1e-10) == credal.contains(described, point, 1e-8))
        assert credal_set.contains(point) == credal.contains(described, point)

    @given(any_credal_sets)
    def test_a_wrong_sum_or_length_is_not_inside(self, described):
        credal_set = to_credo(described)
        point = np.array(credal_set.centre)
        assert not credal_set.contains(point * 0.9)
        assert not credal_set.contains(np.append(point, 0.0))
        assert not credal_set.contains(np.full(len(point), np.nan))

    @given(any_credal_sets)
    def test_the_lowered_set_is_the_same_set(self, described):
        credal_set = to_credo(described)
        lowered = credal_set.lowered()
        assert lowered.lowered() is lowered
        assert all(lowered.contains(point, tolerance=1e-8) for point in credal.vertices(described))
        assert all(credal_set.contains(point, tolerance=1e-8) for point in lowered.extreme_points())


class TestVertices:
    @given(st.integers(2, 4), generators)
    def test_extreme_points_leave_out_inner_points(self, n, rng):
        outer = np.eye(n)
        inner = rng.dirichlet(np.full(n, 2.0), size=3)
        found = Vertices(np.vstack([inner[:1], outer, inner[1:]])).extreme_points()
        same_points(found, outer)

    @given(sizes, generators)
    def test_two_points_are_a_segment(self, n, rng):
        start, stop = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n))
        segment = Vertices([start, stop])
        share = rng.random()
        assert segment.contains(share * start + (1 - share) * stop)
        beyond = stop + 0.3 * (stop - start)
        assert segment.contains(beyond) == (np.abs(stop - start).max() < 1e-8)


class TestContaminated:
    @given(any_credal_sets, st.floats(0, 1))
    def test_it_is_a_reachable_interval_set(self, described, epsilon):
        weights = to_credo(described).centre
        weights = weights / weights.sum()
        contaminated = Contaminated(weights, epsilon)
        assert contaminated.lowered().is_reachable
        definition = credal.vertices(credal.Contamination(tuple(weights.tolist()), epsilon))
        box = contaminated.lowered()
        if epsilon > 1e-9:
            same_points(credal.distinct(map(tuple, box.extreme_points().tolist())), definition)

    @given(any_credal_sets)
    def test_none_at_all_is_precise(self, described):
        weights = to_credo(described).centre
        assert (Contaminated(weights, 0).lowered().lower == Precise(weights).weights).all()
        assert (Contaminated(weights, 0).lowered().upper == Precise(weights).weights).all()

    def test_all_of_it_is_vacuous(self):
        assert Contaminated([0.2, 0.8], 1).lowered() == Intervals([0, 0], [1, 1])


def test_the_dual_formula_agrees_with_trying_every_vertex():
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 5):
        lower = rng.random(n) / (2 * n)
        box = Box(tuple(lower), tuple(np.minimum(lower + rng.random(n) + 1 / n, 1)))
        values = rng.random(n).tolist()
        for maximum in (False, True):
            dual = credal.best_sum_of_intervals(box.lower, box.upper, values, maximum)
            assert dual == pytest.approx(credal.best_sum(box, values, maximum), abs=1e-12)
