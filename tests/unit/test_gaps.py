import math

import numpy as np
import pytest

from credo.errors import ParameterError
from credo.table import gaps

ALL = [gaps.rows, gaps.mcar, gaps.mar, gaps.mnar]


def table_of(n=300, columns=8, missing=0.0):
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 2, (n, columns)).astype(float)
    cells[:, 1:][rng.random((n, columns - 1)) < missing] = np.nan
    return cells


@pytest.mark.parametrize("gap", ALL)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_cells_are_taken_out_and_nothing_else_changes(gap, missing):
    table = table_of(missing=missing)
    before = table.copy()
    found = gap(table, 0.05, random_state=1)
    assert found.dtype == np.float64
    assert np.array_equal(table, before, equal_nan=True)
    left = ~np.isnan(found)
    assert np.array_equal(found[left], table[left])
    assert np.isnan(found[np.isnan(table)]).all()
    taken = np.isnan(found) & ~np.isnan(table)
    assert (taken.any(axis=1).sum() if gap is gaps.rows else taken.sum()) == round(0.05 * (300 if gap is gaps.rows else 2400))


@pytest.mark.parametrize("gap", ALL)
def test_the_same_number_takes_out_the_same_cells(gap):
    table = table_of()
    first, second, third = gap(table, 0.1, random_state=3), gap(table, 0.1, random_state=3), gap(table, 0.1, random_state=4)
    assert np.array_equal(first, second, equal_nan=True)
    assert not np.array_equal(first, third, equal_nan=True)
    generator = np.random.default_rng(3)
    assert np.array_equal(gap(table, 0.1, random_state=generator), first, equal_nan=True)
    assert not np.array_equal(gap(table, 0.1, random_state=generator), first, equal_nan=True)
    assert np.isnan(gap(table, 0.1)).any()


@pytest.mark.parametrize("gap", ALL)
def test_no_share_takes_nothing(gap):
    assert not np.isnan(gap(table_of(), 0, random_state=0)).any()


@pytest.mark.parametrize("gap", ALL)
def test_whole_numbers_booleans_and_lists_are_tables(gap):
    assert np.isnan(gap([[0, 1], [1, 0], [1, 1], [1, 1]], 0.25, random_state=0)).sum() >= 1
    assert np.isnan(gap(np.array([[False, True], [True, True]]), 0.5, random_state=0)).sum() >= 1


def test_rows_lose_between_one_cell_and_all_but_one():
    missing = np.isnan(gaps.rows(table_of(4000, 5), 1, random_state=0)).sum(axis=1)
    numbers = np.bincount(missing, minlength=6)
    assert numbers[0] == numbers[5] == 0
    assert np.abs(numbers[1:5] / 4000 - 0.25).max() < 0.03


def test_rows_with_gaps_keep_one_of_the_cells_they_have():
    table = table_of(missing=0.6)
    fit = (~np.isnan(table)).sum(axis=1) > 1
    found = gaps.rows(table, fit.mean(), random_state=0)
    taken = np.isnan(found) & ~np.isnan(table)
    assert np.array_equal(taken.any(axis=1), fit)
    assert (~np.isnan(found)).sum(axis=1)[fit].min() == 1
    with pytest.raises(ParameterError, match=r"two known cells or more; share must be at most"):
        gaps.rows(table, 1)


def test_mcar_takes_all_cells_alike():
    columns = np.isnan(gaps.mcar(table_of(5000, 6), 0.3, random_state=0)).mean(axis=0)
    assert np.abs(columns - 0.3).max() < 0.03
    assert np.isnan(gaps.mcar(table_of(), 1)).all()


def test_mar_is_driven_by_a_column_that_stays_complete():
    table = table_of(4000, 5)
    found = np.isnan(gaps.mar(table, 0.2, driver=2, strength=1.0, random_state=0))
    assert not found[:, 2].any()
    often, seldom = found[table[:, 2] == 1].mean(), found[table[:, 2] == 0].mean()
    assert often > 3 * seldom  # two standard deviations apart
    opposite = np.isnan(gaps.mar(table, 0.2, driver=2, strength=-1.0, random_state=0))
    assert opposite[table[:, 2] == 1].mean() < opposite[table[:, 2] == 0].mean() / 3
    even = np.isnan(gaps.mar(table, 0.2, driver=2, strength=0, random_state=0))
    assert abs(even[table[:, 2] == 1].mean() - even[table[:, 2] == 0].mean()) < 0.02
    # Given the driver, what a cell holds does not matter.
    assert abs(found[:, 0][table[:, 0] == 1].mean() - found[:, 0][table[:, 0] == 0].mean()) < 0.03


def test_mar_takes_the_first_complete_column_unless_told():
    table = table_of(missing=0.1)
    table[:, [0, 3]] = table[:, [3, 0]]
    assert not np.isnan(gaps.mar(table, 0.3, random_state=0)[:, 3]).any()
    constant = np.ones((50, 3))
    assert np.isnan(gaps.mar(constant, 0.5, random_state=0)).sum() == 75


def test_mnar_takes_mostly_or_only_the_largest_values():
    table = table_of(4000, 5)
    only = np.isnan(gaps.mnar(table, 0.2, strength=math.inf, random_state=0))
    assert (table[only] == 1).all()
    mostly = np.isnan(gaps.mnar(table, 0.1, strength=2.0, random_state=0))
    assert 0.8 < table[mostly].mean() < 0.95
    with pytest.raises(ParameterError, match=r"asks for 19\d\d\d of 20000 cells, but only .* can go missing; share must be at most 0\.\d+"):
        gaps.mnar(table, 0.99, strength=math.inf)


def test_mnar_in_the_tails_takes_unusual_values():
    table = np.random.default_rng(0).normal(size=(4000, 3))
    found = np.isnan(gaps.mnar(table, 0.1, strength=1.5, kind="tail", random_state=0))
    assert np.abs(table[found]).mean() > 2 * np.abs(table[~found]).mean()
    assert abs((table[found] > 0).mean() - 0.5) < 0.05
    rare = (np.random.default_rng(0).random((4000, 3)) < 0.1).astype(float)
    found = np.isnan(gaps.mnar(rare, 0.1, kind="tail", random_state=0))
    assert rare[found].mean() > 0.9


@pytest.mark.parametrize("gap", ALL)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"share": 1.5}, r"share must be a number from 0 to 1, got 1\.5"),
        ({"share": -0.1}, "share must be"),
        ({"share": math.nan}, "share must be"),
        ({"share": "half"}, "share must be a number from 0 to 1, got 'half'"),
        ({"random_state": -1}, "random_state must be"),
        ({"random_state": "seed"}, "random_state must be .* got 'seed'"),
        ({"table": [1, 2]}, r"table must have rows and columns, got the shape \(2,\)"),
        ({"table": np.ones((0, 3))}, "table must have rows"),
        ({"table": [["yes", "no"]]}, "table must hold numbers"),
    ],
)
def test_errors_name_the_parameter_what_is_allowed_and_the_value(gap, arguments, message):
    with pytest.raises(ParameterError, match=message):
        gap(**{"table": table_of(), "share": 0.1, **arguments})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaps.mar(table_of(missing=0.2), 0.1, driver=3), r"driver must be .* one of \[0\], got 3"),
        (lambda: gaps.mar(table_of(columns=20), 0.1, driver=-1), r"one of \[0, 1, .*, 9, \.\.\.\], got -1"),
        (lambda: gaps.mar([[np.nan, 1], [1, np.nan]], 0.1), "every column has some"),
        (lambda: gaps.mar(table_of(), 0.1, strength=math.inf), "strength must be a finite number"),
        (lambda: gaps.mar(table_of(columns=2), 0.9), r"only 300 can go missing; share must be at most 0\.5"),
        (lambda: gaps.mnar(table_of(), 0.1, strength=math.nan), "strength must be"),
        (lambda: gaps.mnar(table_of(), 0.1, strength=math.inf, kind="tail"), "strength must be"),
        (lambda: gaps.mnar(table_of(), 0.1, kind="other"), "kind must be 'self' or 'tail', got 'other'"),
        (lambda: gaps.rows(np.ones((5, 1)), 0.5), r"asks for gaps in 2 of 5 rows, but only 0"),
        (lambda: gaps.mcar(table_of(missing=0.5), 0.9), "can go missing"),
    ],
)
def test_impossible_settings_are_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_masked_cells_are_missing():
    table = np.ma.array(np.ones((4, 3)), mask=np.eye(4, 3, dtype=bool))
    assert np.isnan(gaps.mcar(table, 0.0)).sum() == 3
