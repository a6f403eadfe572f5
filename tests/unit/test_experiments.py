"""The experiments run from end to end on a small table of known make, and measure what they say."""

import gzip
import json

import numpy as np
import pytest

from credo.experiments import coverage, table

ROWS = 300


def halves(rows=ROWS, columns=6, seed=0):
    """Draw the halves of rows independently, each from three profiles with noise."""
    rng = np.random.default_rng(seed)
    profiles = rng.random((3, columns)) < 0.5
    half = columns // 2
    drawn = np.hstack([profiles[rng.integers(0, 3, rows), :half], profiles[rng.integers(0, 3, rows), half:]])
    return (drawn ^ (rng.random(drawn.shape) < 0.1)).astype(float)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Put a table in its three parts where experiments look for it."""
    for seed, part in enumerate(("train", "valid", "test")):
        (tmp_path / "halves").mkdir(exist_ok=True)
        with gzip.open(tmp_path / "halves" / f"halves.{part}.data.gz", "wt") as file:
            np.savetxt(file, halves(seed=seed), delimiter=",", fmt="%d")
    monkeypatch.setenv("CREDO_DATA", str(tmp_path))
    return tmp_path


class TestCoverage:
    @pytest.mark.parametrize("mechanism", coverage.MECHANISMS)
    def test_one_column_is_always_covered_and_as_wide_as_its_gaps(self, mechanism):
        lines = list(coverage.measure("halves", halves(), mechanism, 0.1, ("best", "margin")))
        of = {(line.rule, line.kind): line for line in lines}
        assert set(of) == {(rule, kind) for rule in ("best", "margin", *coverage.POINTS) for kind in coverage.KINDS}
        assert of["best", "P(a)"].coverage == of["margin", "P(a)"].coverage == 1
        assert of["best", "P(a)"].relative_width == pytest.approx(1, rel=1e-4)  # values that were all lost get a little
        assert 1.1 < of["margin", "P(a)"].relative_width <= 1.2
        assert of["margin", "P(a,b)"].width > of["best", "P(a,b)"].width > 0
        for rule in coverage.POINTS:
            assert of[rule, "P(a,b)"].width == pytest.approx(0, abs=1e-12)
            assert of[rule, "P(a,b)"].off > 0
        assert of["best", "P(a)"].misfit == pytest.approx(0, abs=1e-9)
        assert of["best", "P(a,b)"].misfit > 0

    def test_conditionals_are_quotients_of_bounds(self):
        complete = halves()
        questions = coverage.random_queries(complete, np.random.default_rng(0), 20)
        model = coverage.CredalSPN(g_factor=3.0, smoothing=1.0, random_state=0).fit(coverage.gaps.mcar(complete, 0.1, random_state=0))
        given = questions[2]
        assert given.kind == "P(a|b)"
        for (lower, upper), row, (a, b) in zip(coverage.intervals(model, given), given.joint, given.columns, strict=True):
            both = model.probability({f"x{a}": int(row[a]), f"x{b}": int(row[b])})
            other = model.probability({f"x{a}": int(1 - row[a]), f"x{b}": int(row[b])})
            assert lower == pytest.approx(both.lower / (both.lower + other.upper))
            assert upper == pytest.approx(both.upper / (both.upper + other.lower))

    def test_one_command_gives_a_table_figures_and_a_plot(self, data, capsys):
        figures, picture = data / "figures.json", data / "picture.png"
        options = ["--mechanisms", "rows", "MNAR self", "--shares", "0.1", "1.1", "--rules", "margin"]
        assert coverage.main([*options, "--json", str(figures), "--plot", str(picture)]) == 0
        shown = capsys.readouterr().out
        assert shown.count("margin") == 2
        assert "EM" in shown
        assert {line["rule"] for line in json.loads(figures.read_text())} == {"margin", *coverage.POINTS}
        assert picture.read_bytes().startswith(b"\x89PNG")

    def test_without_tables_it_says_where_to_put_them(self, monkeypatch, capsys):
        monkeypatch.delenv("CREDO_DATA", raising=False)
        assert coverage.main([]) == 1
        assert "set CREDO_DATA" in capsys.readouterr().err


class TestTable:
    def test_one_command_gives_the_table_of_both_learners(self, data, capsys):
        figures = data / "figures.json"
        options = ["--tables", "halves", "--learners", "cautious", "published", "--seeds", "2", "--shares", "0", "0.05"]
        assert table.main([*options, "--json", str(figures)]) == 0
        lines = json.loads(figures.read_text())
        assert [(line["share"], line["learner"]) for line in lines] == [(s, who) for s in (0, 0.05) for who in ("cautious", "published")]
        for line in lines:
            assert line["min_ll"] <= line["avg_ll"] <= line["opt_ll"]
            assert (line["gap"] > 1e-9) == (line["share"] > 0)
        assert lines[2]["gap"] < lines[3]["gap"]
        shown = capsys.readouterr().out
        assert all(who in shown for who in ("cautious", "LearnSPN, ours", "LearnCSPN, ours"))

    def test_published_figures_stand_below_ours(self):
        line = table.Line("nltcs", 0.05, "cautious", -6.05, -6.5, -5.7, 0.8, 970, 0.2, 4.0)
        assert "-8.556" in list(table.rows([line]))[2]
