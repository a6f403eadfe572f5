"""The learners by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from credo.learn.clustering import Clustering, HardEM, OnGuides
from credo.learn.grow import Grower, Progress
from credo.learn.independence import GTest
from credo.learn.overlapping import OverlappingEM
from credo.learn.soft_em import SoftEM

__all__ = ["CLUSTERINGS", "LEARNERS", "Progress", "structure_learner"]

LEARNERS = ("cautious", "levray_belle", "learn_spn")
CLUSTERINGS = ("soft_em", "hard_em")


def structure_learner(
    *,
    learner: str,
    clustering: str,
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
    watch: Callable[[Progress], None] | None,
    say: Callable[[str], None],
) -> Grower:
    """Return what learns the structure: by known cells for "cautious", else that of LearnSPN, or of LearnCSPN where cells are missing."""
    cautious, soft = learner == "cautious", learner == "cautious" and clustering == "soft_em"
    hard = HardEM(cluster_penalty=cluster_penalty, restarts=restarts, passes=passes, carry_threshold=carry_threshold)
    rule: Clustering = OnGuides(hard) if cautious else hard
    if soft:
        rule = SoftEM(cluster_penalty=cluster_penalty, restarts=restarts, passes=passes)
    overlapping = OverlappingEM(
        cluster_penalty=cluster_penalty,
        restarts=restarts,
        passes=passes,
        carry_threshold=carry_threshold,
        most_clusters=most_clusters,
    )
    return Grower(
        independence=GTest(g_factor=g_factor, counts="known" if cautious else counts),
        clustering=rule,
        overlapping=None if cautious else overlapping,
        test_whole=soft,
        fewest_rows=min_rows,
        max_nodes=max_nodes,
        random_state=random_state,
        n_jobs=n_jobs,
        watch=watch,
        say=say,
    )
