"""What the width of an interval is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WidthBySource:
    """What the width of an interval is made of.

    Parameters
    ----------
    gaps : float
        What missing cells leave open.
    sample_size : float
        What `prior_strength` adds: rows that were not seen.
    contamination : float
        What `contamination` adds.

    Examples
    --------
    >>> from credo.estimators.width import WidthBySource
    >>> WidthBySource(gaps=0.05, sample_size=0.01, contamination=0.0).total
    0.060000000000000005
    """

    gaps: float
    sample_size: float
    contamination: float

    @property
    def total(self) -> float:
        """The whole width."""
        return self.gaps + self.sample_size + self.contamination

    def __repr__(self) -> str:
        return f"WidthBySource(gaps={self.gaps:.3f}, sample_size={self.sample_size:.3f}, contamination={self.contamination:.3f})"
