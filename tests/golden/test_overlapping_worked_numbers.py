"""The published examples of clustering with missing cells: values of columns A, B and C in two clusters, logarithms to base 10."""

import math

import numpy as np
import pytest

from credo.learn.overlapping import (
    becomes_leaves,
    joined_clusters,
    leaf_intervals,
    lower_log_likelihood,
    weight_intervals,
    worst_case_log_likelihood,
)
from credo.learn.slices import CodeTable

CL1 = ([40, 0], [30, 6], [5, 33])  # of 40 rows, B known in 36 and C in 38
CL1_COMPLETED = ([0, 0], [0, 4], [2, 0])  # each with the value that is the rarest
CL2 = ([60, 10], [6, 45], [61, 9])  # of 70 rows
CL2_COMPLETED = ([0, 0], [19, 0], [0, 0])

PRINTED = 1e-4  # four digits, some of them cut and not rounded


def known(counts):
    return [sum(column) for column in counts]


def lower(counts, row):
    return lower_log_likelihood(counts, known(counts), row, log=math.log10)


def upper(counts, completed, row):
    return lower(counts, row) + worst_case_log_likelihood(counts, known(counts), completed, row, log=math.log10)


def test_a_complete_row_has_the_printed_log_likelihoods_and_no_worst_case():
    row = [0, 0, 1]
    assert lower(CL1, row) == pytest.approx(-0.1434, abs=PRINTED)
    assert lower(CL2, row) == pytest.approx(-1.8787, abs=PRINTED)
    assert upper(CL1, CL1_COMPLETED, row) == lower(CL1, row)
    assert joined_clusters([lower(CL1, row), lower(CL2, row)], [lower(CL1, row), lower(CL2, row)], -5) == ([0], 0)


def test_an_incomplete_row_has_the_printed_lower_and_upper_log_likelihoods():
    row = [0, 0, -1]
    lowers = [lower(CL1, row), lower(CL2, row)]
    uppers = [upper(CL1, CL1_COMPLETED, row), upper(CL2, CL2_COMPLETED, row)]
    assert lowers == pytest.approx([-0.0812, -0.9914], abs=PRINTED)
    assert uppers == pytest.approx([-0.9355, -1.8787], abs=PRINTED)
    # The lower value in the second cluster falls short of the upper one in the first.
    assert joined_clusters(lowers, uppers, -5) == ([0], 0)
    assert joined_clusters(lowers[::-1], uppers[::-1], -5) == ([1], 1)


def test_only_completions_with_the_value_that_is_rarest_now_soften_the_worst_case():
    row = [0, 0, -1]
    assert upper(CL1, ([0, 0], [0, 4], [1, 1]), row) == pytest.approx(-0.0812 + math.log10(5.1 / 38.2) - math.log10(1.1 / 2.2), abs=PRINTED)


def test_weights_of_five_clusters_of_eighty_rows():
    # 30 rows are incomplete and all in the first cluster; the printed [.125, .5] becomes [.5, .5].
    weights = weight_intervals([10, 10, 10, 10, 10], [40, 10, 10, 10, 10], 80)
    assert weights.lower.tolist() == weights.upper.tolist() == [0.5, 0.125, 0.125, 0.125, 0.125]


def test_a_leaf_of_four_rows_of_which_one_misses_the_cell():
    rows = np.array([[1, 0, 1], [0, 0, 1], [1, -1, 1], [-1, 1, 0]])
    leaf = leaf_intervals(rows[:, 0], 2)
    assert (leaf.lower[1], leaf.upper[1]) == (1 / 2, 3 / 4)
    smoothed = leaf_intervals(rows[:, 0], 2, smoothing=0.5)
    assert (smoothed.lower[1], smoothed.upper[1]) == (2.5 / 5, 3.5 / 5)


def test_few_complete_rows_become_leaves():
    complete = [[0, 0], [0, 1], [1, 0], [1, 1]]
    gaps = [[-1, 0]] * 20

    def leaves(rows):
        return becomes_leaves(CodeTable(np.array(rows, np.int8), np.array([2, 2])).whole())

    assert leaves(complete + gaps)
    assert not leaves([*complete, [0, 0], *gaps])
    assert leaves([[0, 0]] * 5 + gaps)
