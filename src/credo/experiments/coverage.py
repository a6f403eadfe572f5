"""Coverage and width: do intervals hold the answers that the complete table would have given, and how wide are they for that.

    python -m credo.experiments.coverage [--tables nltcs] [--shares 0.05 0.2] [--rules best posterior] [--json FILE] [--plot FILE]

Cells are taken out of a complete table: of whole rows (the published protocol), at random, by another column, or because of what they
hold. A structure is learned from what is left, and answers every P(a), and random P(a,b) and P(a|b), as intervals. The truth is what
the same structure answers when it is recounted on the complete table: what gaps took away is then all that intervals can miss. What
the structure itself misses, its truth against the frequencies of the complete table, is reported apart.

Beside the rules for rows with gaps stand the numbers that others would give, on the same structure: from the rows without gaps only,
from a table whose gaps hold the most common value of their column, and by expectation-maximisation.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from credo.estimators.density import CredalSPN
from credo.learn.em import expectation_maximisation
from credo.learn.membership import rule_of
from credo.model.circuit import Circuit
from credo.table import datasets, gaps
from credo.table.encode import encode, infer_schema

Table: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["P(a)", "P(a,b)", "P(a|b)"]


def few_known(complete: Table, share: float, random_state: int) -> Table:
    """Take all but two cells out of a share of the rows."""
    rng = np.random.default_rng(random_state)
    table = complete.copy()
    chosen = rng.choice(len(table), round(share * len(table)), replace=False)
    place = rng.random((len(chosen), table.shape[1])).argsort(axis=1).argsort(axis=1)
    table[chosen] = np.where(place < 2, table[chosen], np.nan)
    return table


KINDS: tuple[Kind, ...] = ("P(a)", "P(a,b)", "P(a|b)")
RULES = ("margin", "best", "posterior", "ratio(2)", "ratio(10)", "dominance", "levray_belle")
POINTS = ("drop rows", "impute mode", "EM")
MECHANISMS: dict[str, Callable[..., Table]] = {
    "rows": gaps.rows,
    "MCAR": gaps.mcar,
    "MAR": gaps.mar,
    "MNAR self": partial(gaps.mnar, kind="self"),
    "MNAR tail": partial(gaps.mnar, kind="tail"),
    "two known": few_known,
}
SHARES = (0.01, 0.05, 0.1, 0.2, 0.4)
QUERIES = 300  # random ones of two columns, of each kind
EM_STEPS = 20
TOLERANCE = 1e-9
FEWEST_ROWS = 1e-3  # share of the rows that what is given must have, as conditionals of hardly any row say nothing


@dataclass(frozen=True)
class Queries:
    """Questions of one kind: what is asked, together with what is given, as rows of codes."""

    kind: Kind
    joint: NDArray[np.int8]
    columns: NDArray[np.int64]  # (queries, 2), one column twice where only one is in question


@dataclass(frozen=True)
class Line:
    """How one rule does on questions of one kind."""

    table: str
    mechanism: str
    share: float
    rule: str
    kind: Kind
    coverage: float  # of answers of the same structure on the complete table
    width: float
    missing: float  # mean share of missing cells in the columns in question
    off: float  # mean distance of the middle from the truth, or of the number that others give
    misfit: float  # mean distance of the truth from the frequency in the complete table
    nodes: int

    @property
    def relative_width(self) -> float:
        """Width over the share of missing cells."""
        return self.width / self.missing if self.missing else 0.0


def random_queries(complete: Table, rng: np.random.Generator, n: int = QUERIES) -> list[Queries]:
    """Return every P(a), and random P(a,b) and P(a|b); values other than the first, which is mostly 'no', or any for conditionals."""
    columns = complete.shape[1]
    sizes = np.maximum(complete.max(axis=0).astype(int) + 1, 2)
    singles = np.concatenate([np.arange(1, size) for size in sizes])
    owner = np.repeat(np.arange(columns), sizes - 1)
    one = np.full((len(owner), columns), -1, np.int8)
    one[np.arange(len(owner)), owner] = singles
    found = [Queries("P(a)", one, np.column_stack([owner, owner]))]
    kinds: tuple[Kind, ...] = ("P(a,b)", "P(a|b)")
    for kind in kinds if columns > 1 else ():
        pairs: list[tuple[int, int]] = []
        values: list[tuple[int, int]] = []
        while len(pairs) < n:
            a, b = rng.choice(columns, 2, replace=False)
            at = rng.integers(1, sizes[a]), rng.integers(0 if kind == "P(a|b)" else 1, sizes[b])
            if kind == "P(a|b)" and (complete[:, b] == at[1]).mean() < FEWEST_ROWS:
                continue
            pairs.append((a, b))
            values.append(at)
        place, value = np.array(pairs), np.array(values)
        joint = np.full((n, columns), -1, np.int8)
        np.put_along_axis(joint, place, value.astype(np.int8), axis=1)
        found.append(Queries(kind, joint, place))
    return found


def intervals(model: CredalSPN, asked: Queries) -> NDArray[np.float64]:
    """Return lower and upper answers; of conditionals the outer bound by quotients of bounds."""
    joint = np.exp(model.circuit_.log_bounds(asked.joint))
    if asked.kind != "P(a|b)":
        return joint
    against = np.zeros_like(joint)
    a = asked.columns[:, 0]
    for shift in range(1, int(model.circuit_.arrays.column_size.max())):
        sizes = model.circuit_.arrays.column_size[a]
        codes = asked.joint.copy()
        rows = np.arange(len(codes))
        codes[rows, a] = (codes[rows, a] + shift) % sizes
        against += np.where((shift < sizes)[:, None], np.exp(model.circuit_.log_bounds(codes)), 0.0)
    below, above = joint[:, 0] + against[:, 1], joint[:, 1] + against[:, 0]
    lower = np.divide(joint[:, 0], below, out=np.zeros(len(joint)), where=below > 0)
    upper = np.divide(joint[:, 1], above, out=np.ones(len(joint)), where=above > 0)
    return np.column_stack([lower, upper])


def frequencies(complete: Table, asked: Queries) -> NDArray[np.float64]:
    """Return the answers of the complete table itself."""
    found = np.empty(len(asked.joint))
    for at, (query, (a, b)) in enumerate(zip(asked.joint, asked.columns, strict=True)):
        here, there = complete[:, a] == query[a], complete[:, b] == query[b]
        found[at] = (here & there).sum() / there.sum() if asked.kind == "P(a|b)" else (here & there).mean()
    return found


def measure(
    name: str,
    complete: Table,
    mechanism: str,
    share: float,
    rules: Sequence[str] = RULES,
    with_points: bool = True,
    random_state: int = 0,
    settings: dict[str, Any] | None = None,
) -> Iterator[Line]:
    """Learn from a table with gaps and yield how each rule does."""
    schema = infer_schema(complete)
    complete = encode(complete, schema).astype(np.float64)
    table = MECHANISMS[mechanism](complete, share, random_state=random_state)
    rng = np.random.default_rng(random_state)
    questions = random_queries(complete, rng)
    told = {"g_factor": 10.0, "smoothing": 1.0, "random_state": random_state, "verbose": False, **(settings or {})}
    learned = CredalSPN("cautious", **told).fit(table)
    missing = np.isnan(table).mean(axis=0)
    for rule in rules:
        model = learned.recount(table, same_rows=True, membership=rule)
        truth = model.recount(complete, same_rows=True)
        yield from _lines(name, mechanism, share, rule, questions, partial(intervals, model), truth, complete, missing, model.n_nodes_)
    if not with_points:
        return
    truth = learned.recount(complete, same_rows=True)
    common = np.array([np.bincount(column[~np.isnan(column)].astype(int), minlength=1).argmax() for column in table.T])
    whole_rows = table[~np.isnan(table).any(axis=1)]
    models = {"impute mode": learned.recount(np.where(np.isnan(table), common, table), same_rows=True)}
    if len(whole_rows):
        models["drop rows"] = learned.recount(whole_rows)
    codes = np.where(np.isnan(table), -1, table).astype(np.int8)
    arrays = expectation_maximisation(learned.circuit_.arrays, codes, EM_STEPS, learned.smoothing_)
    models["EM"] = _answering_with(learned, Circuit(arrays, learned.schema_))
    for rule in POINTS:
        if rule in models:
            answers = partial(_point_answers, models[rule])
            yield from _lines(name, mechanism, share, rule, questions, answers, truth, complete, missing, learned.n_nodes_)


def _point_answers(model: CredalSPN, asked: Queries) -> NDArray[np.float64]:
    """Return the answers of the central network as intervals of no width."""
    return intervals(_answering_with(model, model.circuit_.compatible("centre")), asked)


def _answering_with(model: CredalSPN, circuit: Circuit) -> CredalSPN:
    """Return a model with another circuit."""
    other = clone(model)
    vars(other).update(vars(model), circuit_=circuit)
    return other


def _lines(
    name: str,
    mechanism: str,
    share: float,
    rule: str,
    questions: Sequence[Queries],
    answers: Callable[[Queries], NDArray[np.float64]],
    truth: CredalSPN,
    complete: Table,
    missing: NDArray[np.float64],
    nodes: int,
) -> Iterator[Line]:
    for asked in questions:
        found, right = answers(asked), _point_answers(truth, asked)[:, 0]
        covered = (found[:, 0] <= right + TOLERANCE) & (right <= found[:, 1] + TOLERANCE)
        yield Line(
            name,
            mechanism,
            share,
            rule,
            asked.kind,
            float(covered.mean()),
            float(np.diff(found, axis=1).mean()),
            float(missing[asked.columns].mean()),
            float(np.abs(found.mean(axis=1) - right).mean()),
            float(np.abs(right - frequencies(complete, asked)).mean()),
            nodes,
        )


def rows(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the lines as text: one for each rule, its kinds of questions side by side."""
    head = f"{'table':<10}{'gaps':<11}{'share':>6}  {'rule':<13}{'nodes':>8}"
    yield head + "".join(f"  | {kind:<7}cover  width  /share    off  misfit" for kind in KINDS)
    for (table, mechanism, share, rule), group in groupby(lines, lambda line: (line.table, line.mechanism, line.share, line.rule)):
        here = list(group)
        cells = f"{table:<10}{mechanism:<11}{share:>6.0%}  {rule:<13}{here[0].nodes:>8,d}"
        for line in here:
            numbers = f"{line.width:7.4f} {line.relative_width:7.2f} {line.off:6.4f}  {line.misfit:6.4f}"
            cells += f"  |       {line.coverage:6.1%} {numbers}"
        yield cells


def plot(lines: Sequence[Line], path: str) -> None:
    """Draw coverage against width, relative to the share of missing cells; needs the extra `plots`."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'credo[plots]'") from None
    figure, axes = pyplot.subplots(1, len(KINDS), figsize=(5 * len(KINDS), 4.5), sharey=True, layout="constrained")
    rules = list(dict.fromkeys(line.rule for line in lines))
    for axis, kind in zip(axes, KINDS, strict=True):
        for number, rule in enumerate(rules):
            here = [line for line in lines if line.kind == kind and line.rule == rule]
            if here:
                axis.scatter(
                    [max(line.relative_width, 0.01) for line in here],
                    [line.coverage for line in here],
                    s=24,
                    alpha=0.7,
                    color=f"C{number % 10}",
                    marker="x" if rule in POINTS else "o",
                    label=rule,
                )
        axis.axhline(0.95, color="grey", linewidth=0.8, linestyle="--")
        axis.set(title=kind, xscale="log", xlabel="mean width / share of missing cells")
    axes[0].set(ylabel="share of answers covered")
    axes[-1].legend(fontsize="small")
    figure.savefig(path)
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment and print it as it goes."""
    parser = argparse.ArgumentParser(prog="python -m credo.experiments.coverage", description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="+", default=datasets.available())
    parser.add_argument("--mechanisms", nargs="+", default=list(MECHANISMS), choices=list(MECHANISMS), metavar="NAME")
    parser.add_argument("--shares", nargs="+", type=float, default=list(SHARES), help="of rows with gaps, or of missing cells")
    parser.add_argument("--rules", nargs="+", default=list(RULES))
    parser.add_argument("--no-points", action="store_true", help="leave out what gives one number")
    parser.add_argument("--seeds", type=int, default=1, help="how many random states, from 0 on")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--plot", help="draw coverage against width into this file")
    chosen = parser.parse_args(arguments)
    for rule in chosen.rules:
        rule_of(rule)
    if not chosen.tables:
        print("no benchmark tables: set CREDO_DATA to a folder with NAME/NAME.train.data.gz and so on", file=sys.stderr)
        return 1
    found: list[Line] = []
    for name in chosen.tables:
        complete = datasets.read(name, "train").astype(np.float64)
        for mechanism in chosen.mechanisms:
            for share in chosen.shares:
                for seed in range(chosen.seeds):
                    try:
                        here = list(measure(name, complete, mechanism, share, chosen.rules, not chosen.no_points, seed))
                    except ValueError as error:
                        print(f"{name:<10}{mechanism:<11}{share:>6.0%}  {error}", flush=True)
                        continue
                    shown = list(rows(here))
                    print("\n".join(shown[1:] if found else shown), flush=True)
                    found.extend(here)
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump([asdict(line) for line in found], file, indent=1)
    if chosen.plot:
        plot(found, chosen.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
