from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo.kernels.fixed_logs import ONE
from credo.kernels.hard_em import hard_em, mixture_score
from credo.kernels.overlapping_em import overlapping_em
from credo.learn.clustering import HardEM, _ItemRows
from credo.learn.overlapping import OverlappingEM, joined_clusters, lower_log_likelihood, rows_of, worst_case_log_likelihood
from credo.learn.slices import CodeTable
from credo.learn.workers import Workers
from reference import overlapping_em as reference

ANY = np.iinfo(np.int64).max


@st.composite
def tables(draw, gaps=True):
    """Two or more different complete rows, and rows with few, many or only gaps; columns of two to four values."""
    n_values = np.array(draw(st.lists(st.integers(2, 4), min_size=1, max_size=5)), np.int32)
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n = draw(st.integers(2, 24))
    # Few profiles with noise, so that clusters hold several rows.
    profiles = rng.integers(0, n_values, (draw(st.integers(1, 4)), len(n_values)))
    noise = rng.random((n, len(n_values))) < draw(st.sampled_from([0.05, 0.3]))
    codes = np.where(noise, rng.integers(0, n_values, (n, len(n_values))), profiles[rng.integers(0, len(profiles), n)])
    if gaps:
        share = rng.random(n) * draw(st.sampled_from([0.5, 1.0])) * (rng.random(n) < draw(st.sampled_from([0.1, 0.5, 0.9])))
        codes[rng.random(codes.shape) < share[:, None]] = -1
    codes[:2] = 0
    codes[1, rng.integers(0, len(n_values))] = 1
    return CodeTable(codes.astype(np.int8), n_values), rng.permutation(n)


def cells(table):
    return [tuple(row) for row in table.codes.tolist()], table.n_values.tolist()


penalties = st.sampled_from([0.0, 0.2, 0.6, 3.0])


@given(tables(), penalties, st.integers(1, 4), st.sampled_from([None, 1, 2, 3]), st.booleans())
def test_kernel_and_definition_put_rows_into_the_same_clusters(drawn, penalty, passes, most, halve):
    table, order = drawn
    rows, n_values = cells(table)
    opening = reference.threshold(n_values, penalty)
    expected = reference.overlapping_em(rows, n_values, order.tolist(), opening, passes, most, halve)
    part = table.whole()
    first, slots, best, score, divided, last = overlapping_em(order, rows_of(part, table.codes), opening, passes, most or ANY, halve)
    assert [run.tolist() for run in np.split(slots, first[1:-1])] == expected.slots
    assert (best.tolist(), divided, last) == (expected.best, expected.divided, expected.opening)
    assert score / ONE == pytest.approx(expected.score(rows, n_values), abs=1e-4 * len(rows))


@given(tables(gaps=False), penalties, st.integers(1, 4), st.booleans())
def test_complete_rows_end_in_the_clusters_of_hard_em_with_the_same_score(drawn, penalty, passes, halve):
    table, order = drawn
    part = table.whole()
    opening = reference.threshold(table.n_values.tolist(), penalty)
    items = _ItemRows.of(part)
    layout = (items.starts, items.items, items.first_item, table.log_count, table.log_total, items.kinds)
    labels, clusters, hard_last = hard_em(order, *layout, opening, passes, halve)
    first, slots, best, score, divided, last = overlapping_em(order, rows_of(part, table.codes), opening, passes, ANY, halve)
    assert slots.tolist() == best.tolist() == labels.tolist()
    assert (divided, last) == (clusters > 1, hard_last)
    numbers = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    assert score == mixture_score(numbers, clusters, *layout)
    assert first.tolist() == list(range(len(order) + 1))


@given(tables(gaps=False), penalties, st.booleans())
def test_without_gaps_the_published_clustering_is_hard_em(drawn, penalty, carry):
    part = drawn[0].whole()
    settings = {"cluster_penalty": penalty, "restarts": 4, "carry_threshold": carry}
    expected = HardEM(**settings).cluster(part, 7).tolist()
    overlapping = OverlappingEM(**settings)
    memberships = overlapping.cluster(part, 7)
    assert memberships.clusters.tolist() == memberships.best.tolist() == expected
    assert memberships.weights().lower.tolist() == memberships.weights().upper.tolist()
    # The way of rows with gaps leads there too.
    outcome = overlapping._best(part, rows_of(part, part.table.codes), 7, range(4))
    assert outcome.memberships.clusters.tolist() == expected


@given(tables(), st.sampled_from([None, 1, 2]))
def test_memberships_are_consistent(drawn, most):
    table = drawn[0]
    part = table.whole()
    found = OverlappingEM(restarts=3, most_clusters=most).cluster(part, 0)
    n = len(table.codes)
    rows = found.rows()
    assert sorted({row for members in rows for row in members.tolist()}) == list(range(n))
    assert all(np.isin(number, found.clusters[found.first[i] : found.first[i + 1]]) for i, number in enumerate(found.best))
    times = np.diff(found.first)
    assert (times[found.complete] == 1).all()
    assert times.min() >= 1
    assert times.max() <= (most or n + 100)
    # The complete rows are divided, so that clusters of clusters come to an end.
    assert found.n_clusters > 1
    assert max(found.complete[members].sum() for members in rows) < found.complete.sum()
    weights = found.weights()
    assert weights.is_reachable
    assert weights.contains(np.bincount(found.best, minlength=found.n_clusters) / n)
    parts = found.parts(part)
    assert [child.rows.tolist() for child in parts] == [members.tolist() for members in rows]
    assert [child.path for child in parts] == [(number,) for number in range(found.n_clusters)]


@given(tables(), penalties)
def test_the_pieces_are_the_definition(drawn, penalty):
    table, order = drawn
    rows, n_values = cells(table)
    opening = reference.threshold(n_values, penalty)
    outcome = reference.overlapping_em(rows, n_values, order.tolist(), opening, passes=1)
    columns = range(len(n_values))
    for row in rows:
        lower, upper = [], []
        for _, cluster in sorted(outcome.clusters.items()):
            counts = [[cluster.known(v).count(code) for code in range(n_values[v])] for v in columns]
            known = [len(cluster.known(v)) for v in columns]
            completed = [[cluster.filled(v).count(code) for code in range(n_values[v])] for v in columns]
            low, worst = lower_log_likelihood(counts, known, row), worst_case_log_likelihood(counts, known, completed, row)
            exact_low, exact_worst = reference.lower(cluster, row, n_values), reference.worst_case(cluster, row, n_values)
            assert low == pytest.approx(exact_low / ONE, abs=1e-5)
            assert worst == pytest.approx(exact_worst / ONE, abs=1e-5)
            lower.append(exact_low)
            upper.append(exact_low + exact_worst)
        slots = sorted(outcome.clusters)
        joined, best = joined_clusters(lower, upper, opening)
        expected = reference.joined(outcome.clusters, row, n_values, opening, None)
        assert ([slots[at] for at in joined], None if best is None else slots[best]) == expected


def test_slices_that_cannot_be_divided_are_one_cluster():
    for codes in ([[0, 1], [0, 1], [0, -1]], [[-1, 1], [0, -1]], [[0, 0]]):
        found = OverlappingEM().cluster(CodeTable(np.array(codes, np.int8), np.array([2, 2])).whole(), 0)
        assert found.n_clusters == 1
        assert found.clusters.tolist() == [0] * len(codes)


def test_restarts_shared_among_threads_give_the_same_clusters():
    rng = np.random.default_rng(3)
    codes = rng.integers(-1, 3, (120, 6)).astype(np.int8)
    codes[:80] = abs(codes[:80])
    part = CodeTable(codes, np.full(6, 3)).whole()
    alone = OverlappingEM().cluster(part, 1)
    with ThreadPoolExecutor(2) as pool:
        shared = OverlappingEM().cluster(part, 1, Workers(2, pool.map))
    assert alone.clusters.tolist() == shared.clusters.tolist()
    assert alone.first.tolist() == shared.first.tolist()
