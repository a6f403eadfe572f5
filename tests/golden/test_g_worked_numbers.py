"""The worked numbers of the test of independence: the G formula on given tables, marginals and totals, in logarithms to base 10."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo.learn.independence import GTest, g_statistic
from credo.learn.slices import CodeTable

AB_SURE, AB_POSSIBLE = [[210, 32], [304, 48]], [[214, 34], [308, 50]]
AC_SURE, AC_POSSIBLE = [[150, 92], [50, 302]], [[156, 97], [56, 307]]


def published(table, rows, columns, n):
    """The published examples take logarithms to base 10 and leave out the factor 2."""
    return g_statistic(table, rows, columns, n) / (2 * math.log(10))


@pytest.mark.parametrize(
    ("table", "rows", "columns", "n", "expected"),
    [
        (AB_SURE, None, None, 594, 0.00457),
        (AB_POSSIBLE, None, None, 600, -2.61699),
        (AC_POSSIBLE, (248, 358), (212, 404), 600, 28.6184),
        (AC_SURE, None, None, 594, 32.5241),
        (AC_SURE, None, None, 600, 35.1168),
        (AC_SURE, None, None, 596, 33.3912),
    ],
)
def test_the_published_examples(table, rows, columns, n, expected):
    cells = np.array(table)
    of_rows = cells.sum(axis=1) if rows is None else rows
    of_columns = cells.sum(axis=0) if columns is None else columns
    assert published(cells, of_rows, of_columns, n) == pytest.approx(expected, abs=6e-5)


@given(st.integers(0, 2**31), st.integers(2, 4), st.integers(2, 4), st.floats(0.01, 20))
def test_the_learner_decides_by_this_number(seed, k, m, g_factor):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, k, 80)
    y = np.where(rng.random(80) < rng.random(), x % m, rng.integers(0, m, 80))
    table = CodeTable(np.column_stack([x, y]).astype(np.int8), np.array([k, m]))
    cells = np.zeros((k, m))
    np.add.at(cells, (x, y), 1)
    freedom = (len(set(x.tolist())) - 1) * (len(set(y.tolist())) - 1)
    found, limit = g_statistic(cells, cells.sum(axis=1), cells.sum(axis=0), 80), 2 * freedom * g_factor + 0.001
    if abs(found - limit) > 1e-4:
        assert bool(GTest(g_factor=g_factor).dependence(table.whole())[0, 1]) == (found > limit)
        assert bool(GTest(g_factor=g_factor, counts="known").dependence(table.whole())[0, 1]) == (found > limit)
