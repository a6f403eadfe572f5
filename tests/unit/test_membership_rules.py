"""Naming rules, rules of one's own, and what is said of those that are none."""

from dataclasses import dataclass

import numpy as np
import pytest

from credo import CredalSPN, gaps
from credo.errors import ParameterError
from credo.learn.clustering import HardEM, OnGuides
from credo.learn.membership import Best, Dominance, Margin, Ratio, rule_of
from credo.learn.slices import CodeTable


def table(rows=300):
    rng = np.random.default_rng(0)
    group = rng.random(rows) < 0.4
    return (group[:, None] ^ (rng.random((rows, 5)) < 0.1)).astype(float)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("best", Best()), ("margin", Margin()), ("margin(.1)", Margin(0.1)), ("ratio(3)", Ratio(3.0)), ("dominance", Dominance())],
)
def test_rules_have_names(name, rule):
    assert rule_of(name) == rule
    assert rule_of(rule) is rule


@pytest.mark.parametrize("wrong", ["beste", "ratio(0.5)", "ratio(x)", "best(2)", "margin(-1)", 3, None, Dominance])
def test_what_is_no_rule_is_refused_with_what_is(wrong):
    with pytest.raises(ParameterError, match=r"membership must be one of 'margin', 'best'.* or a rule, got|must be a number of at least 1"):
        CredalSPN(membership=wrong).fit(table())


def test_numbers_of_rules_have_limits():
    with pytest.raises(ParameterError, match="the room of a margin must be a number of at least 0, got -2"):
        Margin(-2)
    with pytest.raises(ParameterError, match=r"the ratio must be a number of at least 1, got 0\.5"):
        Ratio(0.5)


@dataclass(frozen=True)
class Given:
    """A rule of one's own: whatever it is told."""

    how: str

    def belongs(self, clusters, codes, scores):
        answers = {
            "everywhere": np.ones(scores.shape, bool),
            "nowhere": np.zeros(scores.shape, bool),
            "too much": np.ones(scores.shape),
            "whole numbers": np.ones(scores.shape, int),
            "one cluster": np.ones((len(scores), 1), bool),
        }
        return answers[self.how]


def test_a_rule_of_ones_own_is_used():
    broken = gaps.mcar(table(), 0.2, random_state=0)
    told = {"smoothing": 1.0, "g_factor": 5.0, "random_state": 0}
    best = CredalSPN(membership="best", **told).fit(broken).probability({"x0": 1})
    everywhere = CredalSPN(membership=Given("everywhere"), **told).fit(broken).probability({"x0": 1})
    assert everywhere.lower < best.lower < best.upper < everywhere.upper


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("nowhere", "must put every row in a cluster"),
        ("too much", "in shares that add to 1"),
        ("whole numbers", "must give truth values or shares"),
        ("one cluster", "must give truth values or shares"),
    ],
)
def test_a_rule_that_loses_rows_is_named(how, message):
    broken = gaps.mcar(table(), 0.2, random_state=0)
    with pytest.raises(ParameterError, match=message):
        CredalSPN(membership=Given(how), smoothing=1.0, g_factor=5.0, random_state=0).fit(broken)


class TestGuides:
    def test_where_the_complete_rows_are_alike_the_others_are_clustered(self):
        n_values = np.full(6, 2)
        codes = np.zeros((60, 6), np.int8)
        codes[40:] = 1
        codes[np.arange(40, 60), np.arange(20) % 6] = -1
        labels = OnGuides(HardEM(cluster_penalty=0.1)).cluster(CodeTable(codes, n_values).whole(), 0)
        assert len(set(labels[:40].tolist())) == 1
        assert set(labels[:40].tolist()).isdisjoint(labels[40:].tolist())

    def test_rows_that_know_nothing_open_no_cluster(self):
        codes = np.full((30, 4), -1, np.int8)
        assert not OnGuides(HardEM()).cluster(CodeTable(codes, np.full(4, 2)).whole(), 0).any()
