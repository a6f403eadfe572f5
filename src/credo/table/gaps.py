"""Take cells out of a table on purpose, to see what gaps cost: by rows, at random, by another column, or by the cells' own values.

Each function takes a table of numbers and returns a copy of it as floats with NaN in the cells that were taken out. How many these
are is exact, which ones is random. Cells that are missing already stay missing and do not count as taken out. Cells with unequal
odds are drawn one after the other without replacement, all at once: the cells with the largest `log(weight) + Gumbel noise`.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.errors import ParameterError

Table: TypeAlias = NDArray[np.float64]
RandomState: TypeAlias = int | np.random.Generator | None


def rows(table: ArrayLike, share: float, random_state: RandomState = None) -> Table:
    """Take out any number of cells of some rows.

    Exactly `round(share * rows)` rows lose cells, each a number drawn uniformly from one to all but one of those it has.

    Parameters
    ----------
    table : array-like of numbers, shape (rows, columns)
        NaN where a cell is missing.
    share : float
        Of the rows, those that lose cells.
    random_state : int, Generator or None
        Same number, same cells; None draws other cells each time.

    Returns
    -------
    float array
        A copy of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from credo.table import gaps
    >>> table = gaps.rows(np.ones((200, 5)), 0.05, random_state=0)
    >>> missing = np.isnan(table).sum(axis=1)
    >>> int((missing > 0).sum()), int(missing.max())
    (10, 4)
    """
    cells, rng = _copied(table), _generator(random_state)
    wanted = round(_share(share) * len(cells))
    known = (~np.isnan(cells)).sum(axis=1)
    fit = np.flatnonzero(known > 1)
    if wanted > len(fit):
        raise ParameterError(
            f"share={share} asks for gaps in {wanted} of {len(cells)} rows, but only {len(fit)} have two known cells or more; "
            f"share must be at most {len(fit) / len(cells):.6g}"
        )
    chosen = rng.choice(fit, wanted, replace=False)
    lost = rng.integers(1, known[chosen])
    keys = np.where(np.isnan(cells[chosen]), np.inf, rng.random((wanted, cells.shape[1])))
    place = keys.argsort(axis=1).argsort(axis=1)
    cells[chosen] = np.where(place < lost[:, None], np.nan, cells[chosen])
    return cells


def mcar(table: ArrayLike, share: float, random_state: RandomState = None) -> Table:
    """Take out cells completely at random: every known cell is as likely as any other.

    Parameters
    ----------
    table : array-like of numbers, shape (rows, columns)
        NaN where a cell is missing.
    share : float
        Of all cells, those taken out: exactly `round(share * cells)`.
    random_state : int, Generator or None
        Same number, same cells; None draws other cells each time.

    Returns
    -------
    float array
        A copy of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from credo.table import gaps
    >>> int(np.isnan(gaps.mcar(np.ones((200, 5)), 0.1, random_state=0)).sum())
    100
    """
    cells = _copied(table)
    return _without(cells, share, np.zeros(cells.shape), _generator(random_state))


def mar(table: ArrayLike, share: float, driver: int | None = None, strength: float = 2.0, random_state: RandomState = None) -> Table:
    """Take out cells at random given another column, the driver, which keeps all its cells.

    Parameters
    ----------
    table : array-like of numbers, shape (rows, columns)
        NaN where a cell is missing.
    share : float
        Of all cells, those of the driver included, those taken out: exactly `round(share * cells)`.
    driver : int, optional
        A column without missing cells; the first one unless given. The larger its value, the more cells of a row go missing.
    strength : float
        One standard deviation of the driver multiplies the odds of each cell by `exp(strength)`. Below zero, small values of the
        driver make cells go missing; at zero it does not matter.
    random_state : int, Generator or None
        Same number, same cells; None draws other cells each time.

    Returns
    -------
    float array
        A copy of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from credo.table import gaps
    >>> driver = np.arange(200) % 2
    >>> table = gaps.mar(np.column_stack([driver, np.ones((200, 4))]), 0.1, random_state=0)
    >>> missing = np.isnan(table)
    >>> int(missing.sum()), int(missing[:, 0].sum()), bool(missing[driver == 1].sum() > 5 * missing[driver == 0].sum())
    (100, 0, True)
    """
    cells, rng = _copied(table), _generator(random_state)
    complete = np.flatnonzero(~np.isnan(cells).any(axis=0))
    if driver is None:
        if not len(complete):
            raise ParameterError("driver must be a column without missing cells, but every column has some; fill one first")
        driver = int(complete[0])
    if isinstance(driver, bool) or not isinstance(driver, int | np.integer) or driver not in complete:
        allowed = ", ".join(map(str, complete[:10])) + (", ..." if len(complete) > 10 else "")
        raise ParameterError(f"driver must be the number of a column without missing cells, one of [{allowed}], got {driver!r}")
    odds = np.repeat(_finite(strength) * _standardised(cells[:, driver])[:, None], cells.shape[1], axis=1)
    odds[:, driver] = -np.inf
    return _without(cells, share, odds, rng)


def mnar(
    table: ArrayLike, share: float, strength: float = 3.0, kind: Literal["self", "tail"] = "self", random_state: RandomState = None
) -> Table:
    """Take out cells because of what they hold.

    Parameters
    ----------
    table : array-like of numbers, shape (rows, columns)
        NaN where a cell is missing.
    share : float
        Of all cells, those taken out: exactly `round(share * cells)`.
    strength : float
        With `kind="self"`, the odds of a cell with the largest value are `exp(strength)` times those of another one; `math.inf`
        takes out no other ones. With `kind="tail"`, one standard deviation multiplies the odds by `exp(strength)`.
    kind : {"self", "tail"}
        "self": the largest value of a column goes missing, as a disease that is not admitted. "tail": values far from the mean
        of their column go missing, on either side, as unusual incomes; of two values, the rare one.
    random_state : int, Generator or None
        Same number, same cells; None draws other cells each time.

    Returns
    -------
    float array
        A copy of the table.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from credo.table import gaps
    >>> table = np.arange(1000).reshape(200, 5) % 2
    >>> left = gaps.mnar(table, 0.1, strength=math.inf, random_state=0)
    >>> int(np.isnan(left).sum()), bool((table[np.isnan(left)] == 1).all())
    (100, True)
    """
    cells, rng = _copied(table), _generator(random_state)
    if kind == "self":
        with np.errstate(invalid="ignore"):
            largest = cells == np.fmax.reduce(cells, axis=0)
        if strength == math.inf:
            return _without(cells, share, np.where(largest, 0.0, -np.inf), rng)
        return _without(cells, share, np.where(largest, _finite(strength), 0.0), rng)
    if kind == "tail":
        return _without(cells, share, _finite(strength) * np.abs(_standardised(cells)), rng)
    raise ParameterError(f"kind must be 'self' or 'tail', got {kind!r}")


def _without(cells: Table, share: float, log_odds: Table, rng: np.random.Generator) -> Table:
    """Take out exactly `round(share * cells)` known cells by their odds, none where the odds are zero."""
    wanted = round(_share(share) * cells.size)
    able = np.flatnonzero(~np.isnan(cells) & (log_odds > -np.inf))
    if wanted > len(able):
        raise ParameterError(
            f"share={share} asks for {wanted} of {cells.size} cells, but only {len(able)} can go missing; "
            f"share must be at most {len(able) / cells.size:.6g}"
        )
    if wanted:
        keys = log_odds.ravel()[able] + rng.gumbel(size=len(able))
        cells.flat[able[np.argpartition(keys, -wanted)[-wanted:]]] = np.nan
    return cells


def _copied(table: ArrayLike) -> Table:
    try:
        cells = np.array(table, dtype=np.float64, order="C")
        if isinstance(table, np.ma.MaskedArray):
            cells[np.ma.getmaskarray(table)] = np.nan
    except (TypeError, ValueError) as error:
        raise ParameterError(f"table must hold numbers, and NaN where a cell is missing: {error}") from error
    if cells.ndim != 2 or not cells.size:
        raise ParameterError(f"table must have rows and columns, got the shape {cells.shape}")
    return cells


def _generator(random_state: RandomState) -> np.random.Generator:
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0
    if not (random_state is None or whole or isinstance(random_state, np.random.Generator)):
        raise ParameterError(f"random_state must be a whole number of at least 0, a numpy Generator or None, got {random_state!r}")
    return np.random.default_rng(random_state)


def _share(share: float) -> float:
    if isinstance(share, bool) or not isinstance(share, int | float | np.integer | np.floating) or not 0 <= share <= 1:
        raise ParameterError(f"share must be a number from 0 to 1, got {share!r}")
    return float(share)


def _finite(strength: float) -> float:
    if isinstance(strength, bool) or not isinstance(strength, int | float | np.integer | np.floating) or not math.isfinite(strength):
        raise ParameterError(f"strength must be a finite number (with kind='self', math.inf too), got {strength!r}")
    return float(strength)


def _standardised(cells: Table) -> Table:
    """Return how many standard deviations the cells are above the mean of their column, 0 where it is constant or missing."""
    known = ~np.isnan(cells)
    n = np.maximum(known.sum(axis=0), 1)
    off = np.where(known, cells, 0.0)
    off = np.where(known, cells - off.sum(axis=0) / n, 0.0)
    deviation = np.sqrt((off**2).sum(axis=0) / n)
    scaled: Table = off / np.where(deviation > 0, deviation, 1.0)
    return scaled
