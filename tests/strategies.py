"""Hypothesis strategies for weights and credal sets; circuits come from seeds, see `tests.random_circuits`."""

import numpy as np
from hypothesis import strategies as st

from reference.credal import Box, Contamination, Hull, Point
from tests.random_circuits import random_circuit

shares = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-6]), st.floats(0, 1))
seeds = st.integers(0, 2**31)


@st.composite
def points(draw, n):
    """A weight vector, with zeros at times."""
    draws = [draw(st.one_of(st.just(0.0), st.floats(1e-6, 1))) for _ in range(n)]
    total = sum(draws)
    return tuple(value / total for value in draws) if total > 0 else tuple(float(i == 0) for i in range(n))


@st.composite
def boxes(draw, n):
    """Intervals around a point: any widths, out of reach at times."""
    inside = draw(points(n))
    lower = [weight * (1 - draw(shares)) for weight in inside]
    upper = [min(1.0, weight + (1 - weight) * draw(shares)) for weight in inside]
    return Box(
        tuple(min(low, weight) for low, weight in zip(lower, inside, strict=True)),
        tuple(max(high, weight) for high, weight in zip(upper, inside, strict=True)),
    )


@st.composite
def wide_boxes(draw, n, least=1e-5):
    """Intervals that are either of width zero or at least `least` wide."""
    inside = draw(points(n))
    lower, upper = [], []
    for weight in inside:
        down, up = draw(st.floats(0, 1)) * weight, draw(st.floats(0, 1)) * (1 - weight)
        wide = draw(st.booleans()) and down + up >= least
        lower.append(max(weight - down, 0.0) if wide else weight)
        upper.append(min(weight + up, 1.0) if wide else weight)
    return Box(tuple(lower), tuple(upper))


def credal_sets(n):
    """A credal set of any kind, in the reference's words."""
    return st.one_of(
        points(n).map(Point),
        boxes(n),
        st.lists(points(n), min_size=1, max_size=4).map(lambda rows: Hull(tuple(rows))),
        st.tuples(points(n), shares).map(lambda drawn: Contamination(*drawn)),
    )


sizes = st.integers(1, 6)
any_boxes = sizes.flatmap(boxes)
any_credal_sets = sizes.flatmap(credal_sets)
circuits = st.builds(random_circuit, seeds, st.booleans())
small_circuits = st.builds(lambda seed, shared: random_circuit(seed, shared, most_columns=3, most_combinations=60), seeds, st.booleans())
generators = seeds.map(np.random.default_rng)
