"""Files: what is saved is loaded, and whatever was truncated, altered or made by others is refused with one kind of error."""

import io
import json
import os
import pickle
import stat
import zipfile

import numpy as np
import pytest

import credo
from credo import CircuitBuilder, Contaminated, Intervals, Precise, Vertices
from credo.circuit import storage
from credo.circuit.arrays import DTYPES
from credo.errors import CredoError, FileFormatError


@pytest.fixture(scope="module")
def circuit():
    b = CircuitBuilder({"x": 2, 'naïve ☃ "name"': ["no", "yes"], "z": [1, 2.5, True + 2]})
    leaves = [b.leaf("x", Contaminated([0.25, 0.75], 0.3)), b.leaf("x", Vertices([(0.3, 0.7), (0.4, 0.6)]))]
    parts = [
        b.product([leaf, b.leaf("z", own)])
        for leaf, own in zip(leaves, [Precise([0, 0.5, 0.5]), Intervals([0, 0, 0], [1, 1, 1])], strict=True)
    ]
    return b.freeze(b.sum([*parts, parts[0]], Intervals([0.2, 0.3, 0.2], [0.4, 0.55, 0.48])))


@pytest.fixture
def path(circuit, tmp_path):
    circuit.save(tmp_path / "c.credo")
    return tmp_path / "c.credo"


@pytest.fixture(scope="module")
def content(circuit, tmp_path_factory):
    name = tmp_path_factory.mktemp("saved") / "c.credo"
    circuit.save(name)
    return name.read_bytes()


def rewritten(content, change_header=None, change_entries=None, compression=zipfile.ZIP_DEFLATED):
    """Return a well-formed zip file with another header or other entries: its checksums are right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    if change_header is not None:
        header = json.loads(entries["header.json"])
        changed = change_header(header)
        entries["header.json"] = json.dumps(header if changed is None else changed).encode()
    if change_entries is not None:
        change_entries(entries)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


class TestRoundTrip:
    def test_everything_is_there(self, circuit, path):
        loaded = credo.load(path)
        assert loaded == circuit
        assert loaded.schema == circuit.schema
        assert [type(label) for label in loaded.schema.columns[2].labels] == [int, float, int]
        for name, array in circuit.arrays.as_mapping().items():
            assert np.array_equal(getattr(loaded.arrays, name), array)
            assert getattr(loaded.arrays, name).dtype == array.dtype == DTYPES[name]

    @pytest.mark.parametrize(
        "own",
        [
            Precise([0.1, 0.2, 0.7]),
            Intervals([0.2, 0.3, 0.2], [0.4, 0.55, 0.48]),
            Intervals([0, 0, 0.2], [1, 1, 1], centre=[0.1, 0.2, 0.7]),
            Vertices([(0.5, 0.5, 0), (0.25, 0.25, 0.5), (0, 1, 0)]),
            Contaminated([0.1, 0.2, 0.7], 0.3),
            Contaminated([0.1, 0.2, 0.7], 0),
            Contaminated([0.1, 0.2, 0.7], 1),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("labels", [3, ["a", "b", "c"], [False, 0.5, "x"], [10, 20, 30]])
    def test_every_kind_of_set_and_label(self, own, labels, tmp_path):
        b = CircuitBuilder({"x": labels, "y": 2})
        circuit = b.freeze(b.sum([b.leaf("x", own), b.leaf("x", own), b.leaf("x", [0, 0, 1])], own))
        circuit.save(tmp_path / "c")
        loaded = credo.load(tmp_path / "c")
        assert loaded == circuit
        assert [loaded.arrays.credal_set(node) for node in range(4)] == [circuit.arrays.credal_set(node) for node in range(4)]
        assert loaded.to_text() == circuit.to_text()
        assert np.array_equal(loaded.log_bounds([[0, 1], [2, -1]]), circuit.log_bounds([[0, 1], [2, -1]]))

    @pytest.mark.parametrize("label", [float("inf"), -float("inf"), 10**30, 1e-320, "", " ", "\n", "\x00", "\ud800"], ids=repr)
    def test_odd_labels(self, label, tmp_path):
        b = CircuitBuilder({"x": [label, "other"]})
        circuit = b.freeze(b.leaf("x", [0.5, 0.5]))
        circuit.save(tmp_path / "c")
        assert credo.load(tmp_path / "c") == circuit

    def test_the_same_circuit_gives_the_same_bytes(self, circuit, path, tmp_path):
        credo.load(path).save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()

    def test_paths_may_be_strings(self, circuit, tmp_path):
        circuit.save(str(tmp_path / "c"))
        assert credo.load(str(tmp_path / "c")) == circuit

    def test_it_is_a_zip_of_json_and_plain_arrays(self, path):
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))
            assert set(archive.namelist()) == {"header.json", *(f"{name}.npy" for name in DTYPES)}
            for name, dtype in DTYPES.items():
                assert np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False).dtype == dtype
        assert (header["format"], header["version"], header["kind"]) == ("credo", 1, "circuit")


class TestDamage:
    """Either an error, or the file was changed where nothing is written and the circuit is the same."""

    def load(self, content, tmp_path):
        name = tmp_path / "damaged"
        name.write_bytes(content)
        try:
            return credo.load(name)
        except FileFormatError:
            return None

    def test_truncation(self, content, tmp_path):
        lengths = sorted({0, 1, 3, 4, 5, *range(0, len(content), 41), *range(len(content) - 30, len(content))})
        assert [length for length in lengths if self.load(content[:length], tmp_path) is not None] == []

    @pytest.mark.slow
    @pytest.mark.parametrize("flip", [0xFF, 0x01, 0x20])
    def test_flipped_bytes(self, circuit, content, tmp_path, flip):
        same = 0
        for at in range(flip % 4, len(content), 4):
            damaged = bytearray(content)
            damaged[at] ^= flip
            loaded = self.load(bytes(damaged), tmp_path)
            assert loaded is None or loaded == circuit, f"byte {at} flipped by {flip}"
            same += loaded is not None
        assert same < len(content) / 8, "most flips must be noticed"

    def test_bytes_cut_out_and_put_in(self, circuit, content, tmp_path):
        rng = np.random.default_rng(0)
        for _ in range(150):
            at, n = int(rng.integers(len(content))), int(rng.integers(1, 60))
            for damaged in (
                content[:at] + content[at + n :],
                content[:at] + rng.bytes(n) + content[at:],
                content[:at] + bytes(n) + content[at + n :],
            ):
                loaded = self.load(damaged, tmp_path)
                assert loaded is None or loaded == circuit

    def test_something_appended(self, circuit, content, tmp_path):
        loaded = self.load(content + b"more", tmp_path)
        assert loaded is None or loaded == circuit


HEADERS = {
    "newer version": (lambda h: h.update(version=2), "newer Credo"),
    "no version": (lambda h: h.pop("version") and None, "version is None"),
    "version zero": (lambda h: h.update(version=0), "version is 0"),
    "version as text": (lambda h: h.update(version="1"), "version is '1'"),
    "another format": (lambda h: h.update(format="other"), "not a file written by Credo"),
    "no format": (lambda h: h.pop("format") and None, "not a file written by Credo"),
    "another kind": (lambda h: h.update(kind="forest"), "'forest'"),
    "kind is a list": (lambda h: h.update(kind=[]), "altered|cannot read"),
    "no kind": (lambda h: h.pop("kind") and None, "None"),
    "not an object": (lambda h: [1, 2], "not a file written by Credo"),
    "just a number": (lambda h: 1, "not a file written by Credo"),
    "null": (lambda h: "text", "not a file written by Credo"),
    "no columns": (lambda h: h.pop("columns") and None, "altered"),
    "columns are none": (lambda h: h.update(columns=[]), "altered"),
    "columns are null": (lambda h: h.update(columns=None), "altered"),
    "columns are a number": (lambda h: h.update(columns=3), "altered"),
    "columns are names": (lambda h: h.update(columns=["x", "y", "z"]), "altered"),
    "columns are lists": (lambda h: h.update(columns=[["x", 2, None]] * 3), "altered"),
    "a column too few": (lambda h: h["columns"].pop() and None, "altered"),
    "a column twice": (lambda h: h["columns"][0].update(name="z"), "altered.*more than once"),
    "a column without a name": (lambda h: h["columns"][0].pop("name") and None, "altered"),
    "a name that is a number": (lambda h: h["columns"][0].update(name=1), "altered"),
    "a column without labels": (lambda h: h["columns"][1].pop("labels") and None, "altered"),
    "labels that are a number": (lambda h: h["columns"][1].update(labels=1), "altered"),
    "labels that are text": (lambda h: h["columns"][1].update(labels="ny"), "altered"),
    "labels that are lists": (lambda h: h["columns"][1].update(labels=[["no"], ["yes"]]), "altered"),
    "labels that are null": (lambda h: h["columns"][1].update(labels=[None, "yes"]), "altered"),
    "a label twice": (lambda h: h["columns"][1].update(labels=["no", "no"]), "altered.*twice"),
    "another size": (lambda h: h["columns"][0].update(size=3), "altered"),
    "size as text": (lambda h: h["columns"][0].update(size="2"), "altered"),
    "size as a fraction": (lambda h: h["columns"][0].update(size=2.0), "altered"),
    "size is null": (lambda h: h["columns"][0].update(size=None), "altered"),
    "no arrays": (lambda h: h.pop("arrays") and None, "altered"),
    "arrays are a list": (lambda h: h.update(arrays=[]), "altered"),
    "an array not described": (lambda h: h["arrays"].pop("lower") and None, "'lower'"),
    "described as a number": (lambda h: h["arrays"].update(lower=5), "'lower'"),
    "described as an object": (lambda h: h["arrays"].update(lower={}), "'lower'"),
    "described as a text": (lambda h: h["arrays"].update(lower="<f8"), "'lower'"),
    "described as null": (lambda h: h["arrays"].update(lower=None), "'lower'"),
    "described as nothing": (lambda h: h["arrays"].update(lower=[]), "'lower'"),
    "another type": (lambda h: h["arrays"]["lower"].__setitem__(0, "<f4"), "'lower'"),
    "objects": (lambda h: h["arrays"]["lower"].__setitem__(0, "|O"), "'lower'"),
    "no shape": (lambda h: h["arrays"]["lower"].pop() and None, "'lower'"),
    "two dimensions": (lambda h: h["arrays"]["lower"].__setitem__(1, [1, 12]), "'lower'"),
    "shape as text": (lambda h: h["arrays"]["lower"].__setitem__(1, ["12"]), "'lower'"),
    "a negative length": (lambda h: h["arrays"]["lower"].__setitem__(1, [-1]), "'lower'"),
    "a smaller length": (lambda h: h["arrays"]["lower"].__setitem__(1, [3]), "'lower'"),
    "a larger length": (lambda h: h["arrays"]["lower"].__setitem__(1, [1000]), "'lower'"),
    "a huge length": (lambda h: h["arrays"]["lower"].__setitem__(1, [10**15]), "'lower'"),
    "an absurd length": (lambda h: h["arrays"]["lower"].__setitem__(1, [10**30]), "'lower'"),
}


class TestForgery:
    """Files whose checksums are right, but whose content lies."""

    @pytest.mark.parametrize(("change", "message"), HEADERS.values(), ids=HEADERS.keys())
    def test_headers_that_lie(self, content, tmp_path, change, message):
        (tmp_path / "forged").write_bytes(rewritten(content, change_header=change))
        with pytest.raises(FileFormatError, match=message) as caught:
            credo.load(tmp_path / "forged")
        assert isinstance(caught.value, CredoError)
        assert "forged" in str(caught.value)

    def test_rewriting_alone_changes_nothing(self, circuit, content, tmp_path):
        for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            (tmp_path / "rewritten").write_bytes(
                rewritten(content, change_header=lambda h: h.update(note="unknown keys are left alone"), compression=compression)
            )
            assert credo.load(tmp_path / "rewritten") == circuit

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("header.json", b"{"),
            ("header.json", b"\xff\xfe{}"),
            ("header.json", b""),
            ("header.json", b"[" * 100_000),
            ("lower.npy", b""),
            ("lower.npy", b"\x93NUMPY"),
            ("lower.npy", b"no array at all"),
            ("lower.npy", npy(np.zeros(12, dtype=np.float32))),
            ("lower.npy", npy(np.zeros((12, 1)))),
            ("lower.npy", npy(np.zeros(11))),
            ("lower.npy", npy(np.zeros(13))),
            ("lower.npy", npy(np.array([{"a": 1}] * 12, dtype=object))),
            ("lower.npy", pickle.dumps(np.zeros(12))),
            ("kind.npy", npy(np.array(["a"] * 7))),
        ],
    )
    def test_entries_that_lie(self, content, tmp_path, name, data):
        (tmp_path / "forged").write_bytes(rewritten(content, change_entries=lambda entries: entries.update({name: data})))
        with pytest.raises(FileFormatError, match="forged"):
            credo.load(tmp_path / "forged")

    @pytest.mark.parametrize("length", [10**9, 10**12, 2**59, 2**62, 10**30, -1])
    def test_an_array_that_claims_to_be_huge(self, content, tmp_path, length):
        def claim(entries):
            whole = entries["lower.npy"]
            size = int.from_bytes(whole[8:10], "little")
            header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({length},), }}".ljust(size - 1) + "\n"
            entries["lower.npy"] = whole[:10] + header.encode() + whole[10 + size :]

        (tmp_path / "forged").write_bytes(rewritten(content, change_entries=claim))
        with pytest.raises(FileFormatError, match="'lower'"):
            credo.load(tmp_path / "forged")

    @pytest.mark.parametrize("name", ["header.json", "lower.npy", "points.npy"])
    def test_entries_that_are_missing(self, content, tmp_path, name):
        (tmp_path / "forged").write_bytes(rewritten(content, change_entries=lambda entries: entries.pop(name)))
        with pytest.raises(FileFormatError, match=name.removesuffix(".npy")):
            credo.load(tmp_path / "forged")

    @pytest.mark.parametrize("name", sorted(DTYPES))
    def test_arrays_that_make_no_circuit(self, circuit, content, tmp_path, name):
        array = getattr(circuit.arrays, name).copy()
        array[:] = 77
        (tmp_path / "forged").write_bytes(rewritten(content, change_entries=lambda entries: entries.update({f"{name}.npy": npy(array)})))
        with pytest.raises(FileFormatError, match="altered"):
            credo.load(tmp_path / "forged")

    def test_a_circuit_that_is_not_decomposable(self, circuit, content, tmp_path):
        column = np.where(circuit.arrays.kind == 0, 0, -1).astype(np.int32)
        (tmp_path / "forged").write_bytes(
            rewritten(
                content,
                change_header=lambda h: h["columns"][2].update(size=2, labels=None),
                change_entries=lambda entries: entries.update({"column.npy": npy(column)}),
            )
        )
        with pytest.raises(FileFormatError, match="altered"):
            credo.load(tmp_path / "forged")

    def test_pickles_are_never_run(self, content, tmp_path):
        class Trap:
            def __reduce__(self):
                return os.mkdir, (str(tmp_path / "trapped"),)

        for data in (pickle.dumps(Trap()), npy(np.array([Trap()], dtype=object))):
            (tmp_path / "forged").write_bytes(
                rewritten(content, change_entries=lambda entries, data=data: entries.update({"lower.npy": data}))
            )
            with pytest.raises(FileFormatError):
                credo.load(tmp_path / "forged")
        assert not (tmp_path / "trapped").exists()

    def test_a_header_that_is_too_large(self, content, tmp_path, monkeypatch):
        monkeypatch.setattr(storage, "MOST_HEADER_BYTES", 100)
        (tmp_path / "forged").write_bytes(content)
        with pytest.raises(FileFormatError, match="header is too large"):
            credo.load(tmp_path / "forged")


class TestForeignFiles:
    @pytest.mark.parametrize(
        "content", [b"", b"PK", b"PK\x03\x04", b"x1,x2\n0,1\n", pickle.dumps([1, 2]), b"\x93NUMPY\x01\x00", b"PK\x05\x06" + bytes(18)]
    )
    def test_files_of_other_programs(self, tmp_path, content):
        (tmp_path / "foreign").write_bytes(content)
        with pytest.raises(FileFormatError, match="foreign"):
            credo.load(tmp_path / "foreign")

    def test_other_zip_files(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "foreign", "w") as archive:
            archive.writestr("word/document.xml", "<document/>")
        with pytest.raises(FileFormatError, match=r"not a file written by Credo: it has no header\.json"):
            credo.load(tmp_path / "foreign")

    def test_encrypted_entries(self, content, tmp_path):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            offset = archive.getinfo("header.json").header_offset
        flagged = bytearray(content)
        flagged[offset + 6] |= 1
        flagged[content.index(b"PK\x01\x02") + 8] |= 1
        (tmp_path / "foreign").write_bytes(bytes(flagged))
        with pytest.raises(FileFormatError, match="truncated or was altered"):
            credo.load(tmp_path / "foreign")

    def test_no_file_and_folders(self, tmp_path):
        with pytest.raises(FileFormatError, match=r"absent.* cannot be read: No such file"):
            credo.load(tmp_path / "absent")
        with pytest.raises(FileFormatError, match="cannot be read"):
            credo.load(tmp_path)


class TestSaving:
    @pytest.mark.parametrize("failing", ["fsync", "replace", "chmod"])
    def test_a_failed_write_leaves_the_old_file_whole(self, circuit, path, monkeypatch, failing):
        before = path.read_bytes()
        b = CircuitBuilder({"x": 2})
        other = b.freeze(b.leaf("x", [0.5, 0.5]))

        def fail(*args, **kwargs):
            raise OSError("no space left on device")

        monkeypatch.setattr(storage.os, failing, fail)
        with pytest.raises(OSError, match="no space left"):
            other.save(path)
        assert path.read_bytes() == before
        assert [entry.name for entry in path.parent.iterdir()] == [path.name], "nothing is left lying about"

    def test_an_interrupted_write_leaves_no_file(self, circuit, tmp_path, monkeypatch):
        def interrupt(*args):
            raise KeyboardInterrupt

        monkeypatch.setattr(storage.os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            circuit.save(tmp_path / "new")
        assert list(tmp_path.iterdir()) == []

    def test_an_old_file_is_replaced(self, circuit, path):
        b = CircuitBuilder({"x": 2})
        other = b.freeze(b.leaf("x", [0.5, 0.5]))
        other.save(path)
        assert credo.load(path) == other

    def test_a_new_file_gets_the_usual_permissions(self, path):
        other = path.with_name("other")
        other.write_bytes(b"")
        assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)

    def test_an_old_file_keeps_its_permissions(self, circuit, path):
        path.chmod(0o640)
        circuit.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_the_umask_is_left_alone(self, circuit, tmp_path):
        before = os.umask(0o027)
        try:
            circuit.save(tmp_path / "c")
            assert os.umask(0o027) == 0o027
            assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == 0o640
        finally:
            os.umask(before)
