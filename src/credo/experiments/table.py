"""The published table of log-likelihoods, with our figures beside it.

    python -m credo.experiments.table [--tables nltcs plants] [--shares 0 0.01 0.05] [--learners published] [--seeds 5] [--json FILE]

For each benchmark table found in the folder `CREDO_DATA`: a learner on the complete training rows, then after gaps were made in a
share of the rows; of the published ones LearnSPN, then LearnCSPN. Smoothing is chosen on the validation rows, and so is the g_factor
of the cautious learner; log-likelihoods are of the test rows, exact. With several seeds, each figure is their median.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from statistics import median
from typing import Any

from credo.estimators.density import CredalSPN
from credo.table import datasets, gaps

PUBLISHED_NAMES = {"nltcs": "NLTCS", "plants": "Plants", "baudio": "Audio", "dna": "DNA", "bbc": "BBC"}
SHARES = (0.0, 0.01, 0.05)
LEARNERS = ("cautious", "published")
CLUSTER_PENALTY, G_FACTOR = 0.6, 10.0
COLUMNS = ("avg_ll", "min_ll", "opt_ll", "gap", "nodes", "seconds")


@dataclass(frozen=True, slots=True)
class Line:
    """One cell of the experiment: a table, a share of rows with gaps, a learner, and what came out."""

    table: str
    share: float
    learner: str
    avg_ll: float
    min_ll: float
    opt_ll: float
    gap: float
    nodes: int
    seconds: float
    smoothing: float


def measure(table: str, share: float, learner: str = "published", random_state: int = 0) -> Line:
    """Learn from a benchmark table with gaps in a share of its rows and score the test rows."""
    train, valid, test = (datasets.read(table, part) for part in datasets.PARTS)
    settings: dict[str, Any] = {"cluster_penalty": CLUSTER_PENALTY, "smoothing": "validate", "random_state": random_state, "verbose": False}
    if learner == "published":
        model = CredalSPN("levray_belle" if share else "learn_spn", g_factor=G_FACTOR, **settings)
    else:
        model = CredalSPN("cautious", **settings)
    model.fit(gaps.rows(train, share, random_state=random_state) if share else train, validation=valid)
    scores = model.scores(test)
    return Line(
        table,
        share,
        learner,
        scores.avg_ll,
        scores.min_ll,
        scores.opt_ll,
        scores.gap,
        model.n_nodes_,
        model.learning_seconds_,
        model.smoothing_,
    )


def middle(lines: Sequence[Line]) -> Line:
    """Return the median of each figure."""
    figures = {name: median([getattr(line, name) for line in lines]) for name in (*COLUMNS, "smoothing")}
    return replace(lines[0], **{**figures, "nodes": int(figures["nodes"])})


def published() -> dict[str, Any]:
    """Return the published figures by table and setting."""
    found: dict[str, Any] = json.loads((files("credo.experiments") / "published_log_likelihood.json").read_text())
    return found


def rows(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the lines as text, each with the published one below it."""
    yield f"{'table':<10}{'gaps':>6}  {'':<18}" + "".join(f"{name:>11}" for name in COLUMNS)
    printed = published()
    for line in lines:
        ours = asdict(line)
        who = "cautious" if line.learner == "cautious" else "LearnCSPN, ours" if line.share else "LearnSPN, ours"
        yield f"{line.table:<10}{line.share:>6.0%}  {who:<18}" + "".join(_cell(ours[name]) for name in COLUMNS)
        theirs = printed.get(PUBLISHED_NAMES.get(line.table, ""), {}).get(
            f"missing_{line.share:.0%}".replace("%", "pct") if line.share else "learnspn"
        )
        if theirs:
            shown = {**theirs, "avg_ll": theirs.get("avg_ll", theirs.get("ll"))}
            if "min_ll" in theirs:
                shown["gap"] = theirs["opt_ll"] - theirs["min_ll"]
            yield f"{'':<16}  {'published':<18}" + "".join(_cell(shown.get(name)) for name in COLUMNS)


def _cell(value: float | int | None) -> str:
    if value is None:
        return f"{'-':>11}"
    return f"{value:>11,d}" if isinstance(value, int) else f"{value:>11.3f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment and print it as it goes."""
    parser = argparse.ArgumentParser(prog="python -m credo.experiments.table", description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="+", default=[name for name in PUBLISHED_NAMES if name in datasets.available()])
    parser.add_argument("--shares", nargs="+", type=float, default=list(SHARES), help="of rows with gaps; 0 is LearnSPN")
    parser.add_argument("--learners", nargs="+", default=["published"], choices=LEARNERS)
    parser.add_argument("--seeds", type=int, default=1, help="how many random states, from 0 on")
    parser.add_argument("--json", help="write the figures to this file")
    chosen = parser.parse_args(arguments)
    if not chosen.tables:
        print("no benchmark tables: set CREDO_DATA to a folder with NAME/NAME.train.data.gz and so on", file=sys.stderr)
        return 1
    measured = []
    for name in chosen.tables:
        for share in chosen.shares:
            for learner in chosen.learners:
                measured.append(middle([measure(name, share, learner, seed) for seed in range(chosen.seeds)]))
                lines = list(rows(measured[-1:]))
                print("\n".join(lines if len(measured) == 1 else lines[1:]), flush=True)
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump([asdict(line) for line in measured], file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
