"""What the cautious learner promises, on tables small enough to try everything."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo import CredalSPN, Intervals, gaps
from credo.learn.credal_counts import counted
from credo.learn.freeze import freeze
from credo.learn.membership import Best, Dominance, Posterior
from credo.learn.slices import CodeTable
from credo.learn.trees import walk
from credo.model.circuit import Circuit
from credo.table.schema import Column, Schema
from tests.property.test_membership_matches_reference import drawn_table, grown


def schema_of(n_values):
    return Schema(tuple(Column(f"x{at}", int(k)) for at, k in enumerate(n_values)))


@given(
    st.integers(0, 2**31),
    st.lists(st.integers(2, 4), min_size=2, max_size=6),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([0.0, 0.7]),
    st.sampled_from([Best(), Posterior()]),
)
def test_every_column_by_itself_is_known_but_for_its_gaps(seed, n_values, missing, smoothing, rule):
    """`[n_x / n, (n_x + missing) / n]`, to the last digits, with smoothing towards the columns too."""
    n_values = np.array(n_values)
    codes = drawn_table(np.random.default_rng(seed), 150, n_values, missing)
    tree = counted(grown(codes, n_values), CodeTable(codes, n_values), rule)
    circuit = Circuit(freeze(tree, n_values.tolist(), smoothing, "columns"), schema_of(n_values))
    for column, k in enumerate(n_values):
        gone = (codes[:, column] == -1).sum()
        seen = [(codes[:, column] == value).sum() for value in range(k)]
        if smoothing and min(seen) == 0:
            continue  # smoothing gives values that were never seen a little
        for value in range(k):
            bounds = circuit.probability({f"x{column}": value})
            assert tuple(bounds) == pytest.approx((seen[value] / len(codes), (seen[value] + gone) / len(codes)), abs=1e-12)


def completions(codes, n_values):
    """Yield the table with its gaps filled in every way."""
    places = np.argwhere(codes < 0)
    for values in product(*(range(n_values[column]) for _, column in places)):
        filled = codes.copy()
        filled[places[:, 0], places[:, 1]] = values
        yield filled


def lies_in(precise, credal):
    """Tell whether the weights of a precise circuit lie in the intervals of another one of the same structure."""
    inside = (credal.lower - 1e-9 <= precise.centre) & (precise.centre <= credal.upper + 1e-9)
    return np.array_equal(precise.child, credal.child) and bool(inside.all())


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("n_values", [(2, 2, 2, 2), (3, 2, 2), (2, 2, 2, 2, 2)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_whatever_the_gaps_held_the_completed_network_is_compatible_with_dominance(seed, n_values, smoothing):
    """Cluster models are frozen; each completed row goes where it is most likely; rows without gaps stay where they were."""
    n_values = np.array(n_values)
    rng = np.random.default_rng(seed)
    complete = drawn_table(rng, 60, n_values, 0.0)
    codes = complete.copy()
    where = rng.choice(codes.size, 7, replace=False)
    codes.flat[where] = -1
    structure = grown(codes, n_values, g_factor=0.3)
    assert sum(1 for _ in walk(structure)) > 3
    credal = freeze(counted(structure, CodeTable(codes, n_values), Dominance()), n_values.tolist(), smoothing)
    bounds_of, tried = Circuit(credal, schema_of(n_values)), 0
    worlds = np.array(list(product(*map(range, n_values))))
    bounds = bounds_of.log_bounds(worlds)
    for filled in completions(codes, n_values):
        recounted = freeze(counted(structure, CodeTable(filled, n_values), Best()), n_values.tolist(), smoothing)
        empty = (np.isnan(recounted.centre)).any()
        assert not empty
        precise = Circuit(recounted, schema_of(n_values)).compatible()
        assert lies_in(recounted, credal) or _only_unreached_nodes_differ(recounted, credal)
        found = precise.log_likelihood(worlds)
        assert (bounds[:, 0] <= found + 1e-9).all()
        assert (found <= bounds[:, 1] + 1e-9).all()
        tried += 1
    assert tried >= 2**7


def _only_unreached_nodes_differ(precise, credal):
    """Tell whether weights outside their intervals are those of nodes that no row reached, whose proportions are anybody's guess."""
    outside = (credal.lower - 1e-9 > precise.centre) | (precise.centre > credal.upper + 1e-9)
    owner = np.repeat(np.arange(precise.n_nodes), np.diff(precise.weight_offset))
    return bool((precise.upper - precise.lower > 1 - 1e-9)[np.isin(owner, owner[outside])].all())


@pytest.mark.parametrize("clustering", ["soft_em", "hard_em"])
@pytest.mark.parametrize("rule", ["margin", "best", "posterior", "ratio(3)", "dominance", "levray_belle"])
@pytest.mark.parametrize("toward", ["columns", "uniform"])
def test_every_interval_is_reachable_and_no_value_impossible(rule, toward, clustering):
    table = gaps.mar(mixed(rows=300), 0.3, random_state=2)
    settings = {"g_factor": 1.0, "cluster_penalty": 0.1, "random_state": 0, "clustering": clustering}
    for smoothing, strength in ((0.0, 0.0), (0.7, 0.0), (0.7, 1.0)):
        model = CredalSPN(membership=rule, smooth_toward=toward, smoothing=smoothing, prior_strength=strength, **settings).fit(table)
        arrays = model.circuit_.arrays
        sums = np.flatnonzero(np.diff(arrays.weight_offset) > 0)
        for node in sums.tolist():
            credal = arrays.credal_set(node)
            if isinstance(credal, Intervals):
                assert credal.is_reachable, (node, credal)
                assert credal.contains(credal.centre)
        if smoothing:
            assert np.isfinite(model.score_samples_bounds(mixed(rows=300))).all()


def test_rows_that_know_hardly_anything_change_hardly_anything():
    """They are divided among clusters as all rows are, and neither begin a cluster nor give it weight."""
    table = mixed(rows=600)
    told = {"g_factor": 2.0, "smoothing": 1.0, "random_state": 0}
    alone = CredalSPN(**told).fit(table)
    with_empty = np.vstack([table, np.full((2400, 8), np.nan)])
    model = CredalSPN(**told).fit(with_empty)
    assert model.n_nodes_ > 0.5 * alone.n_nodes_
    assert abs(model.score(table) - alone.score(table)) < 0.02 * abs(alone.score(table))


def mixed(rows=400, columns=8, seed=0):
    rng = np.random.default_rng(seed)
    return drawn_table(rng, rows, np.full(columns, 2), 0.0).astype(float)


def test_on_a_complete_table_hard_em_has_the_structure_of_learn_spn():
    table = mixed()
    settings = {"g_factor": 2.0, "smoothing": 0.5, "random_state": 3}
    published = CredalSPN("learn_spn", **settings).fit(table).circuit_
    cautious = CredalSPN(clustering="hard_em", smooth_toward="uniform", **settings).fit(table).circuit_
    assert cautious == published
    assert cautious.depth > 3


@pytest.mark.parametrize("clustering", ["soft_em", "hard_em"])
@pytest.mark.parametrize("how", ["no row complete", "few rows with many gaps", "a column without any cell", "rows without any cell"])
def test_learning_needs_no_complete_row(clustering, how):
    table = mixed()
    broken = gaps.mcar(table, 0.3, random_state=0)
    if how == "no row complete":
        broken[np.arange(len(table)), np.arange(len(table)) % 8] = np.nan
        assert np.isnan(broken).any(axis=1).all()
    elif how == "few rows with many gaps":
        broken = gaps.rows(table, 0.1, random_state=0)
    elif how == "a column without any cell":
        broken[:, 3] = np.nan
    else:
        broken[:40] = np.nan
    model = CredalSPN(clustering=clustering, g_factor=2.0, random_state=0).fit(broken)
    circuit = model.circuit_
    assert (circuit.is_tree, circuit.is_complete, circuit.is_decomposable, circuit.is_precise) == (True, True, True, False)
    sizes = [len(node.children) for node in walk(model._tree.tree) if hasattr(node, "counts") and hasattr(node, "children")]
    assert sizes
    assert max(sizes) < 40  # not one cluster a row
    assert model.score(table) > CredalSPN(g_factor=1e9, cluster_penalty=1e9, random_state=0).fit(broken).score(table)


def test_pairs_hardly_known_together_are_named():
    table = mixed()
    table[:200, 0] = np.nan
    table[195:, 1] = np.nan
    from credo import CredoWarning

    with pytest.warns(CredoWarning, match=r"'x0' and 'x1' are both known in 0 rows.* taken to be independent"):
        CredalSPN(smoothing=1.0, g_factor=5.0, random_state=0).fit(table)


@pytest.mark.parametrize("rule", ["margin", "best", "posterior", "ratio(3)", "dominance", "levray_belle"])
def test_without_gaps_every_rule_gives_the_same_points(rule):
    table = mixed()
    circuit = CredalSPN(membership=rule, smoothing=1.0, g_factor=2.0, random_state=0).fit(table).circuit_
    assert circuit.is_precise
    assert circuit == CredalSPN(membership="best", smoothing=1.0, g_factor=2.0, random_state=0).fit(table).circuit_


@pytest.mark.parametrize("rule", ["margin", "best", "posterior", "ratio(3)", "dominance", "levray_belle"])
def test_recounting_the_table_it_was_learned_from_changes_nothing(rule):
    table = gaps.mcar(mixed(), 0.1, random_state=1)
    model = CredalSPN(membership=rule, smoothing=1.0, g_factor=2.0, random_state=0).fit(table)
    assert model.recount(table, same_rows=True).circuit_ == model.circuit_


def test_a_margin_makes_single_columns_wider_by_its_share_at_most():
    table = gaps.mcar(mixed(), 0.1, random_state=1)
    best = CredalSPN(membership="best", smoothing=1.0, g_factor=2.0, random_state=0).fit(table)
    wide = best.recount(table, same_rows=True, membership="margin(0.2)")
    for column in range(8):
        narrow, broad = best.probability({f"x{column}": 1}), wide.probability({f"x{column}": 1})
        assert broad.lower <= narrow.lower < narrow.upper <= broad.upper
        assert 1.1 < (broad.upper - broad.lower) / (narrow.upper - narrow.lower) < 1.201


class TestSources:
    table = gaps.mcar(mixed(), 0.1, random_state=1)

    def test_the_sources_add_to_the_width(self):
        settings = {"smoothing": 1.0, "g_factor": 2.0, "random_state": 0}
        model = CredalSPN(prior_strength=2.0, contamination=0.01, **settings).fit(self.table)
        event = {"x0": 1, "x3": {0}}
        width, bounds = model.width_by_source(event), model.probability(event)
        assert width.total == pytest.approx(bounds.upper - bounds.lower)
        assert min(width.gaps, width.sample_size, width.contamination) > 0
        gaps_alone = CredalSPN(**settings).fit(self.table).probability(event)
        assert width.gaps == pytest.approx(gaps_alone.upper - gaps_alone.lower)

    def test_a_complete_table_leaves_only_what_was_asked_for(self):
        model = CredalSPN(prior_strength=1.0, smoothing=0.0, g_factor=1e9, cluster_penalty=1e9, random_state=0).fit(mixed())
        width = model.width_by_source({"x0": 1})
        assert (width.gaps, width.contamination) == (0, 0)
        assert width.sample_size == pytest.approx(1 / 401)  # the imprecise Dirichlet model: one row of 401 may be anything


def test_em_steps_move_the_centre_alone_and_make_rows_no_less_likely():
    table = gaps.mcar(mixed(), 0.2, random_state=1)
    settings = {"smoothing": 1.0, "g_factor": 2.0, "random_state": 0}
    plain, moved = CredalSPN(**settings).fit(table), CredalSPN(em_steps=5, **settings).fit(table)
    assert np.array_equal(plain.circuit_.arrays.lower, moved.circuit_.arrays.lower)
    assert np.array_equal(plain.circuit_.arrays.upper, moved.circuit_.arrays.upper)
    assert (moved.circuit_.arrays.centre >= moved.circuit_.arrays.lower).all()
    assert (moved.circuit_.arrays.centre <= moved.circuit_.arrays.upper).all()
    assert moved.score(table) > plain.score(table)
