"""Logarithms as integers, so that sums of them are exact in any order: `ln x` is held as `round(ln x * 2**FRACTION_BITS)`.

`logsumexp` needs exponentials of differences as well. A difference is cut to `STEP_BITS` fractional bits and its exponential is the
product of two table entries, one for the upper and one for the lower half of the bits. All of it is integer arithmetic but for one
logarithm at the end, which is rounded to the grid.
"""

from __future__ import annotations

import math

import numpy as np

from credo.kernels.jit import inlined, kernel

FRACTION_BITS = 24
ONE = 1 << FRACTION_BITS
MOST_TABLED = 1 << 16  # entropy terms; those of larger counts are few, and computed when wanted
STEP_BITS = 16  # fractional bits of a difference before its exponential is taken
HALF_BITS = STEP_BITS // 2
WEIGHT_BITS = 24  # exponentials are in units of 2**-WEIGHT_BITS; what rounds to nothing there, beyond 17.3 nats, is nothing

EXP_UPPER = np.array([round(math.exp(-j / (1 << HALF_BITS)) * (1 << WEIGHT_BITS)) for j in range(18 << HALF_BITS)], np.int64)
EXP_LOWER = np.array([round(math.exp(-j / (1 << STEP_BITS)) * (1 << WEIGHT_BITS)) for j in range(1 << HALF_BITS)], np.int64)


@kernel
def shifted_logs(length, shift):
    """Return `ln(j + shift)` for j = 0 .. length-1 in fixed point, 0 where j + shift is 0."""
    logs = np.zeros(length, np.int32)
    for j in range(length):
        if j + shift > 0:
            logs[j] = np.int32(np.rint(math.log(j + shift) * ONE))
    return logs


@kernel
def entropy_terms(length):
    """Return `j ln j` for j = 0 .. length-1 in fixed point."""
    terms = np.zeros(length, np.int64)
    for j in range(1, length):
        terms[j] = np.int64(np.rint(j * math.log(j) * ONE))
    return terms


@inlined
def entropy_term(terms, count):
    """Return `c ln c` of a count: from the table where it is in there. For a million rows the table would take half as much as they."""
    return terms[count] if count < len(terms) else np.int64(np.rint(count * math.log(count) * ONE))


@inlined
def log_sum_exp(scores, width, exp_upper, exp_lower):
    """Return `ln sum exp` of the first `width` scores, all in fixed point."""
    best = scores[0]
    for c in range(1, width):
        best = max(best, scores[c])
    total = 0
    for c in range(width):
        steps = (best - scores[c]) >> (FRACTION_BITS - STEP_BITS)
        upper = min(steps >> HALF_BITS, len(exp_upper) - 1)
        total += (exp_upper[np.uint64(upper)] * exp_lower[np.uint64(steps & ((1 << HALF_BITS) - 1))]) >> WEIGHT_BITS
    return best + np.int64(np.rint(math.log(total / (1 << WEIGHT_BITS)) * ONE))
