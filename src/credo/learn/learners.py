"""The learners by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from credo.learn.clustering import HardEM
from credo.learn.grow import Grower, Progress
from credo.learn.independence import GTest
from credo.learn.overlapping import OverlappingEM

__all__ = ["LEARNERS", "Progress", "structure_learner"]

LEARNERS = ("levray_belle", "learn_spn")


def structure_learner(
    *,
    cluster_penalty: float,
    g_factor: float,
    min_rows: int,
    restarts: int,
    passes: int,
    max_nodes: int | None,
    counts: Literal["sums", "printed"],
    most_clusters: int | None,
    carry_threshold: bool,
    random_state: int,
    n_jobs: int | None,
    watch: Callable[[Progress], None] | None = None,
) -> Grower:
    """Return what learns the structure of LearnSPN, and of LearnCSPN where cells are missing."""
    return Grower(
        independence=GTest(g_factor=g_factor, counts=counts),
        clustering=HardEM(cluster_penalty=cluster_penalty, restarts=restarts, passes=passes, carry_threshold=carry_threshold),
        overlapping=OverlappingEM(
            cluster_penalty=cluster_penalty,
            restarts=restarts,
            passes=passes,
            carry_threshold=carry_threshold,
            most_clusters=most_clusters,
        ),
        fewest_rows=min_rows,
        max_nodes=max_nodes,
        random_state=random_state,
        n_jobs=n_jobs,
        watch=watch,
    )
