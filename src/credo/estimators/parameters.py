"""Checks of what estimators are told: each message names the parameter, what is allowed, and what came."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from credo.errors import ParameterError
from credo.learn.learners import CLUSTERINGS, LEARNERS
from credo.learn.membership import rule_of


def check_parameters(told: Any, has_validation: bool) -> None:
    """Check all parameters of `CredalSPN`."""
    check("learner", told.learner in LEARNERS, f"one of {', '.join(map(repr, LEARNERS))}", told.learner)
    for name in ("cluster_penalty", "prior_strength"):
        value = getattr(told, name)
        check(name, is_number(value), "a number of at least 0", value)
    good = told.g_factor == "auto" if isinstance(told.g_factor, str) else is_number(told.g_factor)
    check("g_factor", good, "a number of at least 0, or 'auto'", told.g_factor)
    good = is_number(told.contamination) and told.contamination <= 1
    check("contamination", good, "a number from 0 to 1", told.contamination)
    for name, least in (("min_rows", 1), ("restarts", 1), ("passes", 1), ("em_steps", 0)):
        value = getattr(told, name)
        check(name, is_whole(value, least), f"a whole number of at least {least}", value)
    for name in ("max_nodes", "most_clusters"):
        value = getattr(told, name)
        check(name, value is None or is_whole(value, 1), "a whole number of at least 1, or None", value)
    good = told.n_jobs is None or (isinstance(told.n_jobs, Integral) and not isinstance(told.n_jobs, bool) and told.n_jobs != 0)
    check("n_jobs", good, "None or a whole number other than 0", told.n_jobs)
    check("clustering", told.clustering in CLUSTERINGS, f"one of {', '.join(map(repr, CLUSTERINGS))}", told.clustering)
    check("verbose", told.verbose is None or isinstance(told.verbose, bool | np.bool_), "True, False or None", told.verbose)
    check("counts", told.counts in ("sums", "printed"), "'sums' or 'printed'", told.counts)
    check("carry_threshold", isinstance(told.carry_threshold, bool | np.bool_), "True or False", told.carry_threshold)
    good = told.smooth_toward in ("auto", "columns", "uniform")
    check("smooth_toward", good, "'auto', 'columns' or 'uniform'", told.smooth_toward)
    good = told.smoothing in ("auto", "validate") if isinstance(told.smoothing, str) else is_number(told.smoothing)
    check("smoothing", good, "a number of at least 0, 'auto' or 'validate'", told.smoothing)
    if told.smoothing == "validate" and not has_validation:
        raise ParameterError("smoothing='validate' needs rows to choose by: fit(X, validation=X_valid); or use smoothing='auto'")
    rule_of(told.membership)
    _check_meant_for_learner(told)


def _check_meant_for_learner(told: Any) -> None:
    """Refuse what the chosen learner would ignore."""
    only = {"membership": "margin", "clustering": "soft_em", "em_steps": 0} if told.learner != "cautious" else {}
    if told.learner == "levray_belle":
        only |= {"prior_strength": 0, "contamination": 0}
    for name, default in only.items():
        if getattr(told, name) != default:
            raise ParameterError(f"{name} does nothing with learner={told.learner!r}: leave it at {default!r}, or use learner='cautious'")


def seed_of(random_state: object) -> int:
    """Return the number that random numbers are drawn by."""
    if is_whole(random_state, 0):
        return int(random_state)  # type: ignore[call-overload]
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    raise ParameterError(f"random_state must be a whole number of at least 0, a numpy Generator or None, got {random_state!r}")


def check(name: str, good: bool, allowed: str, value: object) -> None:
    """Raise an error that names the parameter unless it is good."""
    if not good:
        raise ParameterError(f"{name} must be {allowed}, got {value!r}")


def is_number(value: object) -> bool:
    """Whether it is a finite number of at least 0."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < float("inf")


def is_whole(value: object, least: int) -> bool:
    """Whether it is a whole number of at least `least`."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
