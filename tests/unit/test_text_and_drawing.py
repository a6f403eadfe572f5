import os
import re
import stat
from pathlib import Path

import numpy as np
import pytest

from credo import Circuit, CircuitBuilder, Contaminated, Intervals, Precise, Schema, Vertices
from credo.errors import CircuitError, CredoError, MissingToolError, PathError
from tests.random_circuits import random_circuit


@pytest.fixture(scope="module")
def circuit():
    b = CircuitBuilder({"x": 2, "smoker": ["no", "yes"], "z": 3})
    first = b.product([b.indicator("x", 1), b.leaf("smoker", Intervals([0.6, 0.2], [0.8, 0.4])), b.leaf("z", [0.2, 0.3, 0.5])])
    shared = b.leaf("z", Contaminated([0.25, 0.25, 0.5], 0.5))
    second = b.product([b.leaf("x", [0.5, 0.5]), b.sum([b.indicator("smoker", "no"), b.indicator("smoker", "yes")], [0.5, 0.5]), shared])
    third = b.product([b.indicator("x", 0), b.indicator("smoker", "yes"), shared])
    return b.freeze(b.sum([first, second, third], Vertices([(0.25, 0.25, 0.5), (0.5, 0.5, 0)])))


def dot_of(circuit, tmp_path, **settings):
    return circuit.draw(tmp_path / "c.dot", **settings).read_bytes().decode()


def nodes_of(dot):
    return {int(number): label for number, label in re.findall(r"^  n(\d+) \[(.*)\];$", dot, flags=re.MULTILINE)}


def edges_of(dot):
    return [(int(a), int(b)) for a, b in re.findall(r"^  n(\d+) -> n(\d+)", dot, flags=re.MULTILINE)]


class TestText:
    def test_every_node_has_a_line(self, circuit):
        lines = circuit.to_text().splitlines()
        assert lines[:4] == ["circuit of 14 nodes over 3 columns", "column x: 2 values", "column smoker: no | yes", "column z: 3 values"]
        assert lines[4] == "sum 13: [0.25, 0.5] 3 + [0.25, 0.5] 9 + [0, 0.5] 12 in the hull of (0.25, 0.25, 0.5) (0.5, 0.5, 0)"
        assert [re.match(r"\w+ (\d+)", line)[1] for line in lines[4:]] == [str(node) for node in range(13, -1, -1)]

    def test_what_lines_say(self):
        b = CircuitBuilder({"x": 2, "y": ["no", "yes"]})
        leaf = b.leaf("x", Vertices([(0.3, 0.7), (0.4, 0.6)]))
        circuit = b.freeze(
            b.sum([b.product([leaf, b.indicator("y", "yes")]), b.product([leaf, b.leaf("y", [0.125, 0.875])])], [0.25, 0.75])
        )
        assert circuit.to_text() == (
            "circuit of 6 nodes over 2 columns\n"
            "column x: 2 values\n"
            "column y: no | yes\n"
            "sum 5: 0.25 2 + 0.75 4\n"
            "product 4: 0 * 3\n"
            "leaf 3 y: no 0.125, yes 0.875\n"
            "product 2: 0 * 1\n"
            "leaf 1 y: no 0, yes 1\n"
            "leaf 0 x: 0 [0.3, 0.4], 1 [0.6, 0.7] in the hull of (0.3, 0.7) (0.4, 0.6)\n"
        )

    def test_circuits_that_differ_have_texts_that_differ(self):
        texts = {random_circuit(seed, shared=True).build().to_text() for seed in range(30)}
        assert len(texts) == 30

    def lines_of(self, own, labels=2):
        b = CircuitBuilder({"x": labels})
        return b.freeze(b.leaf("x", own)).to_text().splitlines()[1:]

    @pytest.mark.parametrize(
        ("own", "line"),
        [
            (Precise([1 / 3, 2 / 3]), "0 0.3333333333333333, 1 0.6666666666666666"),
            (Precise([1e-300, 1]), "0 1e-300, 1 1"),
            (Precise([-0.0, 1]), "0 0, 1 1"),
            (Intervals([0.25, 0.75], [0.25, 0.75]), "0 0.25, 1 0.75 as intervals"),
            (Intervals([0.2, 0.5], [0.5, 0.8]), "0 [0.2, 0.5], 1 [0.5, 0.8]"),
            (Intervals([0.2, 0.5], [0.5, 0.8], centre=[0.4, 0.6]), "0 [0.2, 0.5], 1 [0.5, 0.8] around (0.4, 0.6)"),
            (Contaminated([0.25, 0.75], 0.5), "0 [0.125, 0.625], 1 [0.375, 0.875] by contamination of (0.25, 0.75)"),
            (Vertices([(0.25, 0.75), (0.5, 0.5)]), "0 [0.25, 0.5], 1 [0.5, 0.75] in the hull of (0.25, 0.75) (0.5, 0.5)"),
            (
                Vertices([(0.25, 0.75), (0.5, 0.5)], centre=[0.5, 0.5]),
                "0 [0.25, 0.5], 1 [0.5, 0.75] in the hull of (0.25, 0.75) (0.5, 0.5) around (0.5, 0.5)",
            ),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_everything_about_a_credal_set_is_told(self, own, line):
        assert self.lines_of(own) == ["column x: 2 values", f"leaf 0 x: {line}"]

    def test_the_last_digit_counts(self):
        texts = {self.lines_of(own)[1] for own in (Precise([0.1, 0.9]), Precise([0.1 + 2e-17, 0.9]), Precise([0.1, 0.9 + 1e-15]))}
        assert len(texts) == 3

    @pytest.mark.parametrize(
        ("labels", "shown"),
        [
            (["no", "yes"], ["no", "yes"]),
            (["not at all", "half-way"], ["not at all", "half-way"]),
            ([False, True], ["False", "True"]),
            (["False", "True"], ["'False'", "'True'"]),
            ([0, 1], ["0", "1"]),
            (["0", "1"], ["'0'", "'1'"]),
            ([0.5, 1.0], ["0.5", "1.0"]),
            ([float("inf"), "inf"], ["inf", "'inf'"]),
            (["a | b", "c"], ["'a | b'", "c"]),
            (["a 1, b", "c"], ["'a 1, b'", "c"]),
            (["", " "], ["''", "' '"]),
            (["a\nb", "a\\nb"], ["'a\\nb'", "'a\\\\nb'"]),
            (["it's", '"'], ['"it\'s"', "'\"'"]),
            (["\ud800", "\x00"], ["'\\ud800'", "'\\x00'"]),
        ],
    )
    def test_labels_are_told_apart(self, labels, shown):
        first, second = shown
        assert self.lines_of(Precise([0.25, 0.75]), labels) == [f"column x: {first} | {second}", f"leaf 0 x: {first} 0.25, {second} 0.75"]

    def test_all_labels_are_told(self):
        labels = [f"v{k}" for k in range(100)]
        assert self.lines_of(Precise(np.full(100, 0.01)), labels)[0] == "column x: " + " | ".join(labels)

    def test_a_line_stays_a_line_whatever_names_hold(self):
        b = CircuitBuilder({"two\nlines": ["a\nb", "c\r\nd"]})
        text = b.freeze(b.leaf("two\nlines", [0.5, 0.5])).to_text()
        assert len(text.splitlines()) == 3


class TestDrawing:
    def test_every_node_is_drawn_or_written_into_its_product(self, circuit, tmp_path):
        dot = dot_of(circuit, tmp_path)
        drawn = nodes_of(dot)
        arrays = circuit.arrays
        for node in range(arrays.n_nodes):
            if node not in drawn:
                (parent,) = (other for other in range(arrays.n_nodes) if node in arrays.children(other))
                assert arrays.kind[node] == 0
                assert arrays.kind[parent] == 1
                assert circuit.schema.names[arrays.column[node]] in drawn[parent]
        expected = {(a, b) for a in drawn for b in arrays.children(a).tolist() if b in drawn}
        assert sorted(edges_of(dot)) == sorted(expected)

    def test_labels(self, circuit, tmp_path):
        dot = dot_of(circuit, tmp_path)
        assert dot.startswith("digraph circuit {\n")
        assert dot.endswith("}\n")
        assert "smoker: yes [0.2, 0.4]" in dot
        assert "x: = 1" in dot
        assert "z: 0 0.2, 1 0.3, 2 0.5" in dot
        assert 'label="[0, 0.5]"' in dot

    @pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 6, 10, 50])
    def test_large_circuits_collapse(self, tmp_path, most):
        for seed in range(1000, 1020):
            circuit = random_circuit(seed, shared=True).build()
            dot = dot_of(circuit, tmp_path, max_nodes=most)
            drawn = nodes_of(dot)
            assert 1 <= len(drawn) <= most
            assert circuit.arrays.root in drawn
            assert all(a in drawn and b in drawn for a, b in edges_of(dot)), "no edge leads to a node that is not drawn"
            folders = [node for node, label in drawn.items() if "folder" in label]
            assert not {a for a, _ in edges_of(dot)} & set(folders)

    def test_a_collapsed_box_tells_what_it_holds(self, circuit, tmp_path):
        (label,) = nodes_of(dot_of(circuit, tmp_path, max_nodes=1)).values()
        assert "folder" in label
        assert f"{circuit.n_nodes} nodes over x, smoker, z" in label

    @pytest.mark.parametrize(("most", "n_children"), [(3, 1), (10, 8), (401, 399), (402, 401), (500, 401)])
    def test_of_too_many_children_of_the_root_the_first_are_drawn(self, tmp_path, most, n_children):
        b = CircuitBuilder({"x": 2})
        circuit = b.freeze(b.sum([b.leaf("x", [0.5, 0.5]) for _ in range(401)], np.full(401, 1 / 401)))
        dot = dot_of(circuit, tmp_path, max_nodes=most)
        assert sorted(nodes_of(dot)) == [*range(n_children), 401]
        assert edges_of(dot) == [(401, child) for child in range(n_children)]
        left_out = 401 - n_children
        assert (f'  more [shape=folder, style=dashed, label="... {left_out} more"];\n  n401 -> more;\n' in dot) == (left_out > 0)

    def test_children_that_are_drawn_stand_for_what_is_below_them(self, tmp_path):
        b = CircuitBuilder({"x": 2})
        parts = [b.sum([b.leaf("x", [0.5, 0.5]), b.leaf("x", [0.5, 0.5])], [0.5, 0.5]) for _ in range(5)]
        dot = dot_of(b.freeze(b.sum(parts, np.full(5, 0.2))), tmp_path, max_nodes=4)
        assert ["3 nodes over x" in label for label in nodes_of(dot).values()] == [False, True, True]
        assert "... 3 more" in dot

    def test_a_box_counts_shared_nodes_once(self, tmp_path):
        b = CircuitBuilder({"x": 2})
        leaf = b.leaf("x", [0.5, 0.5])
        middle = b.sum([leaf, leaf], [0.5, 0.5])
        circuit = b.freeze(b.sum([middle, middle], [0.5, 0.5]))
        assert "3 nodes over x" in dot_of(circuit, tmp_path, max_nodes=1)
        assert edges_of(dot_of(circuit, tmp_path)) == [(2, 1), (2, 1), (1, 0), (1, 0)]

    @pytest.mark.parametrize("most", [0, -1])
    def test_at_least_one_node(self, circuit, tmp_path, most):
        with pytest.raises(CircuitError, match=f"at least 1, got {most}"):
            circuit.draw(tmp_path / "c.dot", max_nodes=most)

    def test_long_lists_are_shortened(self, tmp_path):
        b = CircuitBuilder({f"x{i}": 20 for i in range(30)})
        wide = b.freeze(b.product([b.leaf(f"x{i}", [0.05] * 20) for i in range(30)]))
        dot = dot_of(wide, tmp_path)
        assert "x0, x1, x2, ... 30 columns" in dot
        assert "... and 22 more leaves" in dot
        assert "... 20 values" in dot

    @pytest.mark.parametrize(
        ("name", "quoted"),
        [
            ('say "x"', 'say \\"x\\"'),
            ("back\\slash", "back\\\\slash"),
            ("ends in \\", "ends in \\\\"),
            ("\\N", "\\\\N"),
            ("two\nlines", "two\\\\nlines"),
            ("<b>", "<b>"),
            ("{a|b}", "{a|b}"),
            ("naïve ☃", "naïve ☃"),
            ("a\tb", "a\\\\tb"),
            ("c\r\nd", "c\\\\r\\\\nd"),
            ("null \x00 bell \x07", "null \\\\x00 bell \\\\x07"),
            ("half \ud800", "half \\\\ud800"),
            ("R&D", "R&amp;D"),
            ("&lt;", "&amp;lt;"),
        ],
    )
    def test_odd_names_are_quoted(self, tmp_path, name, quoted):
        b = CircuitBuilder({name: [name, "other"], "y": 2})
        one = b.product([b.leaf(name, [0.5, 0.5]), b.indicator("y", 0)])
        two = b.product([b.indicator(name, name), b.indicator("y", 1)])
        dot = dot_of(b.freeze(b.sum([one, two], [0.5, 0.5])), tmp_path)
        for line in dot.split("\n")[2:-2]:
            strings = re.findall(r'"(?:[^"\\]|\\.)*"', line)
            rest = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
            assert '"' not in rest
            assert rest.endswith(";")
            assert all(set(re.findall(r"\\(.)", string)) <= {"n", '"', "\\"} for string in strings)
        assert f'"{quoted}\\n{quoted} 0.5\\nother 0.5"' in dot_of(b.freeze(b.leaf(name, [0.5, 0.5])), tmp_path)

    def test_names_of_gv_files(self, circuit, tmp_path):
        assert circuit.draw(str(tmp_path / "c.gv")) == tmp_path / "c.gv"
        assert (tmp_path / "c.gv").read_text(encoding="utf-8").startswith("digraph")

    @pytest.mark.parametrize("name", ["c.DOT", "c.Gv"])
    def test_endings_in_capitals(self, circuit, tmp_path, name):
        assert circuit.draw(tmp_path / name) == tmp_path / name
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("digraph")

    def test_a_link_stays_a_link(self, circuit, tmp_path):
        (tmp_path / "link.dot").symlink_to(tmp_path / "c.dot")
        circuit.draw(tmp_path / "link.dot")
        assert (tmp_path / "link.dot").is_symlink()
        assert (tmp_path / "c.dot").read_text(encoding="utf-8").startswith("digraph")

    @pytest.mark.parametrize("name", ["c.jpg", "c", "c.dot.txt", ".dot"])
    def test_unknown_endings(self, circuit, tmp_path, name):
        with pytest.raises(CircuitError, match=r"\.dot, \.gv, \.svg, \.png, \.pdf") as caught:
            circuit.draw(tmp_path / name)
        assert name in str(caught.value)
        assert list(tmp_path.iterdir()) == []


class TestGraphviz:
    def fake_dot(self, folder, monkeypatch, script):
        folder.mkdir()
        (folder / "dot").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "dot").chmod((folder / "dot").stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def test_missing(self, circuit, tmp_path, monkeypatch):
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(MissingToolError, match=r"dot -Tsvg .*c\.dot -o .*c\.svg") as caught:
            circuit.draw(tmp_path / "c.svg")
        assert isinstance(caught.value, CredoError)
        assert (tmp_path / "c.dot").read_text(encoding="utf-8").startswith("digraph"), "the source is there to be drawn later"

    def test_the_command_to_run_by_hand_can_be_pasted(self, circuit, tmp_path, monkeypatch):
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(MissingToolError) as caught:
            circuit.draw(tmp_path / "my circuit.PNG")
        source, picture = tmp_path / "my circuit.dot", tmp_path / "my circuit.PNG"
        assert str(caught.value) == (
            f"the graphviz program 'dot' is not installed, so my circuit.PNG was not made; its source is in {source}. Install graphviz "
            f"and run: dot -Tpng '{source}' -o '{picture}'"
        )

    def test_a_source_by_others_is_not_overwritten(self, circuit, tmp_path):
        for content in (b"graph mine {}\n", b"", b"digraph circuits {\n", b"\xff\xfe", b"digraph circuit {" * 100):
            (tmp_path / "c.dot").write_bytes(content)
            with pytest.raises(PathError) as caught:
                circuit.draw(tmp_path / "c.svg")
            assert str(caught.value) == (
                f"{tmp_path / 'c.dot'} is in the way: the source of c.svg goes there, but Credo did not write it; draw to another name"
            )
            assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("c.dot", content)]

    def test_a_source_that_is_a_folder(self, circuit, tmp_path):
        (tmp_path / "c.dot").mkdir()
        with pytest.raises(PathError, match=r"c\.dot cannot be read: it is a folder; give the name of a file$"):
            circuit.draw(tmp_path / "c.svg")

    @pytest.mark.skipif(os.name != "posix", reason="the stand-in for dot is a shell script")
    @pytest.mark.parametrize("name", ["c.svg", "c.SVG", "-o.svg"])
    def test_installed(self, circuit, tmp_path, monkeypatch, name):
        self.fake_dot(tmp_path / "bin", monkeypatch, 'echo "$@"; cat')
        monkeypatch.chdir(tmp_path)
        for _ in range(2):  # the second time over what the first has left
            assert circuit.draw(name) == Path(name)
            source = Path(name).with_suffix(".dot").read_text(encoding="utf-8")
            assert source.startswith("digraph circuit {\n")
            assert (tmp_path / name).read_text(encoding="utf-8") == f"-Tsvg\n{source}"

    @pytest.mark.skipif(os.name != "posix", reason="the stand-in for dot is a shell script")
    def test_failing(self, circuit, tmp_path, monkeypatch):
        self.fake_dot(tmp_path / "bin", monkeypatch, "echo no such format >&2; exit 1")
        with pytest.raises(MissingToolError, match=r"^'dot' could not draw .*c\.dot: no such format$"):
            circuit.draw(tmp_path / "c.pdf")
        assert not (tmp_path / "c.pdf").exists()


def test_names_reach_pictures_and_texts(tmp_path):
    b = CircuitBuilder({"x": 2})
    plain = b.freeze(b.leaf("x", [0.5, 0.5]))
    named = Circuit(plain.arrays, Schema.of({"smoker": ["no", "yes"]}))
    assert "leaf 0 smoker: no 0.5, yes 0.5" in named.to_text()
    assert "smoker" in dot_of(named, tmp_path)
