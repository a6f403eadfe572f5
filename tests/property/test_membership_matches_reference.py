"""The compiled pieces of the cautious learner and their plain definitions agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo.kernels.membership import not_dominated, scanned
from credo.learn.credal_counts import counted
from credo.learn.grow import Grower
from credo.learn.independence import GTest
from credo.learn.membership import Best, Dominance, FrozenClusters, LevrayBelle, Margin, Posterior, Ratio
from credo.learn.slices import CodeTable
from credo.learn.soft_em import MOST_STEPS, TOLERANCE, SoftEM, _Rows
from credo.learn.trees import Cluster, Leaves, Product, Sum, walk
from reference import cautious as reference

RULES = [Best(), Margin(), Posterior(), Ratio(3.0), Dominance(), LevrayBelle(), LevrayBelle(second_term=False)]


def drawn_table(rng, rows, n_values, missing):
    """Draw a table with clusters of rows."""
    profiles = rng.integers(0, n_values, (3, len(n_values)))
    codes = profiles[rng.integers(0, 3, rows)]
    noise = rng.random(codes.shape) < 0.2
    codes = np.where(noise, rng.integers(0, n_values, codes.shape), codes)
    codes[rng.random(codes.shape) < missing] = -1
    return codes.astype(np.int8)


def grown(codes, n_values, random_state=0, g_factor=1.0):
    """Learn a structure with several levels."""
    learner = Grower(
        independence=GTest(g_factor=g_factor, counts="known"),
        clustering=SoftEM(cluster_penalty=0.05, restarts=3),
        overlapping=None,
        test_whole=True,
        random_state=random_state,
    )
    return learner.learn(CodeTable(codes, n_values))


@st.composite
def clusters_and_rows(draw):
    n_values = np.array(draw(st.lists(st.integers(2, 3), min_size=1, max_size=4)), np.int32)
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    found = []
    for _ in range(draw(st.integers(2, 5))):
        own = drawn_table(rng, draw(st.integers(1, 12)), n_values, 0.2)
        counts = np.concatenate([np.bincount(column[column >= 0], minlength=k) for column, k in zip(own.T, n_values, strict=True)])
        found.append(Cluster(len(own), counts, np.empty(0, np.int32)))
    rows = drawn_table(rng, 12, n_values, draw(st.sampled_from([0.2, 0.6])))
    return n_values, tuple(found), rows


def models(n_values, clusters):
    sizes = [cluster.size for cluster in clusters]
    found = []
    for cluster in clusters:
        ends = np.cumsum(n_values)[:-1]
        found.append([(own + 0.1) / (own.sum() + 0.1 * len(own)) for own in np.split(cluster.counts, ends)])
    return np.array(sizes) / sum(sizes), found


@given(clusters_and_rows())
def test_scores_and_rules_are_what_they_are_defined_to_be(drawn):
    n_values, clusters, rows = drawn
    frozen = FrozenClusters.of(np.arange(len(n_values)), n_values, clusters)
    scores = frozen.scores(rows, np.arange(len(rows)))
    shares, probabilities = models(n_values, clusters)
    for i, row in enumerate(rows.tolist()):
        expected = [reference.score(row, share, model) for share, model in zip(shares, probabilities, strict=True)]
        assert scores[i] == pytest.approx(expected)
        dominance = reference.not_dominated(row, n_values.tolist(), shares.tolist(), probabilities)
        assert not_dominated(rows, scores, frozen.first_value, frozen.log_models)[i].tolist() == dominance
    lower = np.round(scores, 6)
    upper = lower - np.round(np.abs(np.sin(np.arange(lower.size))).reshape(lower.shape), 2)
    expected = [reference.scanned(low.tolist(), up.tolist()) for low, up in zip(lower, upper, strict=True)]
    assert scanned(lower, upper).tolist() == expected
    for rule in RULES:
        belongs = rule.belongs(frozen, rows, scores)
        assert (belongs[np.arange(len(rows)), scores.argmax(axis=1)] > 0).all(), rule  # the best is always among them
        if belongs.dtype != np.bool_:
            assert belongs.sum(axis=1) == pytest.approx(1)


@given(clusters_and_rows())
def test_what_dominance_keeps_the_published_rule_keeps_without_its_second_term(drawn):
    n_values, clusters, rows = drawn
    rows = rows[(rows < 0).any(axis=1)]
    frozen = FrozenClusters.of(np.arange(len(n_values)), n_values, clusters)
    scores = frozen.scores(rows, np.arange(len(rows)))
    published = LevrayBelle(second_term=False).belongs(frozen, rows, scores)
    assert (published | ~Dominance().belongs(frozen, rows, scores)).all()


def test_with_its_second_term_the_published_rule_may_leave_out_what_dominance_keeps():
    # The row's second cell is missing. The first cluster surely holds a 1 there, the second holds either value, and misses the cell of
    # one row, which was completed with the rarest value: 1. Completed with a 1, the row is likelier in the first cluster, by a
    # little; the second term raises the worst case of the second cluster by ln(1.2 / 1.1), which is more.
    n_values = np.array([2, 2], np.int32)
    clusters = Cluster(53, np.array([53, 0, 0, 53]), np.empty(0)), Cluster(100, np.array([100, 0, 50, 49]), np.empty(0))
    frozen = FrozenClusters.of(np.arange(2), n_values, clusters)
    row = np.array([[0, -1]], np.int8)
    scores = frozen.scores(row, np.arange(1))
    assert Dominance().belongs(frozen, row, scores).tolist() == [[True, True]]
    assert LevrayBelle(second_term=False).belongs(frozen, row, scores).tolist() == [[True, True]]
    assert LevrayBelle().belongs(frozen, row, scores).tolist() == [[False, True]]


@given(st.integers(0, 2**31), st.sampled_from([0.0, 0.3]), st.integers(1, 4))
def test_em_takes_the_steps_of_its_definition(seed, missing, steps):
    rng = np.random.default_rng(seed)
    n_values = np.array([2, 3, 2, 4], np.int32)
    codes = drawn_table(rng, 30, n_values, missing)
    part = CodeTable(codes, n_values).whole()
    share = rng.choice([0.1, 0.5, 0.9], len(codes))
    expected, likelihood = share.tolist(), 0.0
    for _ in range(steps):
        expected, likelihood = reference.em_step(codes.tolist(), n_values.tolist(), expected, 1.0, 0.1)
    rows = _Rows.of(part)
    found = share.copy()
    assert rows.run(found, steps, 1.0, tolerance=-np.inf) == pytest.approx(likelihood, abs=1e-5)
    assert found == pytest.approx(expected, abs=1e-5)
    assert rows.run(found, MOST_STEPS, 1.0, tolerance=TOLERANCE) >= likelihood - 1e-3  # EM never makes rows less likely, up to smoothing


@pytest.mark.parametrize("rule", [Ratio(4.0), Dominance(), LevrayBelle()], ids=["ratio", "dominance", "published"])
@pytest.mark.parametrize("missing", [0.1, 0.4])
def test_counts_are_the_extreme_shares_of_what_rows_may_be(rule, missing):
    rng = np.random.default_rng(5)
    n_values = np.array([2, 3, 2, 2, 3], np.int32)
    codes = drawn_table(rng, 200, n_values, missing)
    table = CodeTable(codes, n_values)
    structure = grown(codes, n_values)
    assert any(isinstance(node, Product) for node in walk(structure))
    tree = counted(structure, table, rule)
    checked = _check(structure, tree, table, rule, dict.fromkeys(range(len(codes)), True))
    assert checked > 10


def _check(before, node, table, rule, here):
    """Compare the counts of a node with the plain definition; `here` says of each row that may be here whether it surely is."""
    rows, sure = list(here), list(here.values())
    codes = table.codes
    if isinstance(node, Product):
        done = _check(node.leaves, node.leaves, table, rule, here)
        return done + sum(_check(b, n, table, rule, here) for b, n in zip(before.children, node.children, strict=True))
    if isinstance(node, Leaves):
        at = 0
        for column in node.columns.tolist():
            for value in range(table.n_values[column]):
                may = [codes[row, column] in (-1, value) for row in rows]
                must = [codes[row, column] == value for row in rows]
                assert _ends(node, at, table.n_values) == pytest.approx(reference.interval(sure, may, must)), (column, value)
                at += 1
        return at
    assert isinstance(node, Sum)
    places = node.columns.tolist()
    shares, probabilities = models(table.n_values[node.columns], before.clusters)
    n_values = table.n_values[node.columns].tolist()
    frozen = FrozenClusters.of(node.columns, table.n_values[node.columns], before.clusters)
    in_clusters = {}
    for row in rows:
        cells = codes[row, places].tolist()
        kept = [c for c, cluster in enumerate(before.clusters) if row in cluster.rows]
        if -1 not in cells:
            scores = [reference.score(cells, share, model) for share, model in zip(shares, probabilities, strict=True)]
            in_clusters[row] = kept or [int(np.argmax(scores))]
        elif isinstance(rule, Dominance):
            in_clusters[row] = np.flatnonzero(reference.not_dominated(cells, n_values, shares.tolist(), probabilities)).tolist()
        else:
            one = np.array([row])
            in_clusters[row] = np.flatnonzero(rule.belongs(frozen, codes[np.ix_(one, places)], frozen.scores(codes, one))[0]).tolist()
    done = 0
    for c, (child_before, child) in enumerate(zip(before.children, node.children, strict=True)):
        may = [c in in_clusters[row] for row in rows]
        must = [in_clusters[row] == [c] for row in rows]
        assert _ends(node, c, table.n_values) == pytest.approx(reference.interval(sure, may, must)), c
        below = {row: here[row] and len(in_clusters[row]) == 1 for row in rows if c in in_clusters[row]}
        done += 1 + _check(child_before, child, table, rule, below)
    return done


def _ends(node, at, n_values):
    """Return the interval of a child or value from the counts of a node."""
    if node.open is not None:
        sure, elsewhere, possible, excluded = (getattr(node.open, name)[at] for name in ("sure", "elsewhere", "possible", "excluded"))
        lower = sure / (sure + elsewhere) if sure + elsewhere else 0.0
        return lower, possible / (possible + excluded) if possible + excluded else 1.0
    if isinstance(node, Sum):
        return (node.counts[at] / node.counts.sum(),) * 2
    # Certain rows: find the column that the value belongs to.
    sizes = n_values[node.columns]
    ends = np.cumsum(sizes)
    column = int(np.searchsorted(ends, at, side="right"))
    own = node.counts[ends[column] - sizes[column] : ends[column]]
    gaps = 0 if node.missing is None else node.missing[column]
    total = own.sum() + gaps
    return (node.counts[at] / total, (node.counts[at] + gaps) / total) if total else (0.0, 1.0)
