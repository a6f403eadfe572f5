"""How well a circuit describes rows: the three log-likelihoods of credal sum-product networks, and the gap between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Scores:
    """Mean log-likelihoods over rows.

    Parameters
    ----------
    min_ll : float
        Mean of the lower log-probabilities: the worst compatible network, row by row.
    avg_ll : float
        Mean log-likelihood of one compatible network: of the means of the limited extreme points as published, of the centres for
        the cautious learner.
    opt_ll : float
        Mean of the upper log-probabilities. It is not the score of a distribution (the upper probabilities of all rows add
        to more than 1): read it together with the gap.

    Examples
    --------
    >>> from credo.infer.scores import Scores
    >>> Scores(min_ll=-6.5, avg_ll=-6.0, opt_ll=-5.75)
    Scores(min_ll=-6.500, avg_ll=-6.000, opt_ll=-5.750, gap=0.750)
    """

    min_ll: float
    avg_ll: float
    opt_ll: float

    @classmethod
    def of(cls, log_bounds: NDArray[np.float64], log_likelihood: NDArray[np.float64]) -> Scores:
        """Return the means over rows."""
        low, high = log_bounds.mean(axis=0)
        return cls(float(low), float(log_likelihood.mean()), float(high))

    @property
    def gap(self) -> float:
        """How far apart the lower and upper log-probability of a row are, on average."""
        return self.opt_ll - self.min_ll if self.opt_ll > self.min_ll else 0.0  # also where both are minus infinity

    def __repr__(self) -> str:
        return f"Scores(min_ll={self.min_ll:.3f}, avg_ll={self.avg_ll:.3f}, opt_ll={self.opt_ll:.3f}, gap={self.gap:.3f})"
