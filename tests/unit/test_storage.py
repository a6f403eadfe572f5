"""Files: what is saved is loaded, and whatever was truncated, altered or made by others is refused with one kind of error."""

import copy
import errno
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
from credo.circuit import paths, storage
from credo.circuit.arrays import DTYPES
from credo.errors import CircuitError, CredoError, FileFormatError, PathError


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
    """Return a well-formed file with another header or other entries: its checksums and its digest are right."""
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
        archive.comment = bytes(storage.DIGEST_LENGTH)
        for name, data in entries.items():
            archive.writestr(name, data)
    return storage.sealed(buffer.getvalue())


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
    """Whatever happens to a byte is an error, even where no content is."""

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
    def test_flipped_bytes(self, content, tmp_path, flip):
        for at in range(flip % 4, len(content), 4):
            damaged = bytearray(content)
            damaged[at] ^= flip
            assert self.load(bytes(damaged), tmp_path) is None, f"byte {at} flipped by {flip}"

    def test_bytes_cut_out_and_put_in(self, content, tmp_path):
        rng = np.random.default_rng(0)
        for _ in range(150):
            at, n = int(rng.integers(len(content))), int(rng.integers(1, 60))
            for damaged in (
                content[:at] + content[at + n :],
                content[:at] + rng.bytes(n) + content[at:],
                content[:at] + bytes(n) + content[at + n :],
            ):
                assert damaged == content or self.load(damaged, tmp_path) is None

    @pytest.mark.parametrize("more", [b"m", b"more", b"\n", bytes(100), b"PK\x05\x06" + bytes(18)])
    def test_something_put_before_or_after(self, content, tmp_path, more):
        assert self.load(content + more, tmp_path) is None
        assert self.load(more + content, tmp_path) is None

    def test_two_files_in_one(self, content, tmp_path):
        assert self.load(content + content, tmp_path) is None

    def test_labels_that_were_changed_by_a_zip_program(self, content, tmp_path):
        changed = rewritten(content, change_entries=lambda e: e.update({"header.json": e["header.json"].replace(b'"yes"', b'"jes"')}))
        digest = content[-storage.DIGEST_LENGTH :]
        (tmp_path / "damaged").write_bytes(changed[: -len(digest)] + digest)
        with pytest.raises(FileFormatError) as caught:
            credo.load(tmp_path / "damaged")
        assert str(caught.value) == f"{tmp_path / 'damaged'} is truncated or was altered: its content does not match the digest at its end"


HEADERS = {
    "newer version": (lambda h: h.update(version=2), "newer Credo"),
    "no version": (lambda h: h.pop("version") and None, "version is None"),
    "version zero": (lambda h: h.update(version=0), "version is 0"),
    "version as truth": (lambda h: h.update(version=True), "version is True"),
    "version as a fraction": (lambda h: h.update(version=1.0), r"version is 1\.0"),
    "version as text": (lambda h: h.update(version="1"), "version is '1'"),
    "another format": (lambda h: h.update(format="other"), "not a file written by Credo"),
    "no format": (lambda h: h.pop("format") and None, "not a file written by Credo"),
    "another kind": (lambda h: h.update(kind="forest"), "'forest'"),
    "kind is a list": (lambda h: h.update(kind=[]), r"holds a \[\], which this version cannot read"),
    "kind is an object": (lambda h: h.update(kind={}), r"holds a \{\}, which this version cannot read"),
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
    """Files whose checksums and digest are right, but whose content lies."""

    @pytest.mark.parametrize(("change", "message"), HEADERS.values(), ids=HEADERS.keys())
    def test_headers_that_lie(self, content, tmp_path, change, message):
        (tmp_path / "forged").write_bytes(rewritten(content, change_header=change))
        with pytest.raises(FileFormatError, match=message) as caught:
            credo.load(tmp_path / "forged")
        assert isinstance(caught.value, CredoError)
        assert "forged" in str(caught.value)

    @pytest.mark.parametrize(
        ("kind", "name", "value"),
        [("precise", "lower", 0.2), ("precise", "upper", 0.9), ("contaminated", "upper", 0.9), ("vertices", "centre", 0.2)],
    )
    def test_weights_that_do_not_fit_their_kind_of_set(self, tmp_path, kind, name, value):
        owns = {"precise": Precise([0.25, 0.75]), "contaminated": Contaminated([0.25, 0.75], 0.4), "vertices": Vertices([(0.3, 0.7)])}
        b = CircuitBuilder({"x": 2})
        circuit = b.freeze(b.leaf("x", owns[kind]))
        circuit.save(tmp_path / "c")
        array = getattr(circuit.arrays, name).copy()
        array[0] = value
        data = npy(array)
        (tmp_path / "forged").write_bytes(
            rewritten((tmp_path / "c").read_bytes(), change_entries=lambda entries: entries.update({f"{name}.npy": data}))
        )
        with pytest.raises(FileFormatError, match="forged was altered: leaf 0: "):
            credo.load(tmp_path / "forged")

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


class TestPaths:
    """Files that cannot be read or written: which, why, and what to do, with nothing left behind."""

    def unusable(self, tmp_path):
        """Return what is no place for a file, with the part of the message that tells why, reading and writing."""
        (tmp_path / "file").write_bytes(b"")
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        no_folder = f"there is no folder {os.path.realpath(tmp_path / 'no')}; make it first or choose another one"
        no_file = "there is no such file; check the name and the folder"
        folder = "it is a folder; give the name of a file"
        file = "what stands for a folder in it is a file; check the path"
        long = "the name is too long; choose a shorter one"
        loop = "it is a link that leads back to itself; remove the link or choose another name"
        name = "its name is no file name (embedded null byte); choose another one"
        return [
            (tmp_path / "no" / "c.dot", no_file, no_folder),
            (tmp_path, folder, folder),
            (tmp_path / "file" / "c.dot", file, file),
            (tmp_path / ("x" * 300 + ".dot"), long, long),
            (tmp_path / "loop", loop, loop),
            (tmp_path / "a\0b.dot", name, name),
        ]

    def test_loading(self, tmp_path):
        for path, reason, _ in self.unusable(tmp_path):
            with pytest.raises(PathError) as caught:
                credo.load(path)
            assert str(caught.value) == f"{path} cannot be read: {reason}"
            assert isinstance(caught.value, CredoError)
            assert isinstance(caught.value, OSError)
            assert caught.value.__cause__ is not None

    def test_saving(self, circuit, tmp_path):
        cases = self.unusable(tmp_path)
        before = sorted(tmp_path.iterdir())
        for path, _, reason in cases:
            with pytest.raises(PathError) as caught:
                circuit.save(path)
            assert str(caught.value) == f"{path} cannot be written: {reason}"
            assert sorted(tmp_path.iterdir()) == before

    def test_drawing(self, circuit, tmp_path):
        for path, _, reason in self.unusable(tmp_path):
            if path.suffix == ".dot":
                with pytest.raises(PathError) as caught:
                    circuit.draw(path)
                assert str(caught.value) == f"{path} cannot be written: {reason}"

    @pytest.mark.parametrize("name", ["", "."])
    def test_the_folder_one_is_in(self, circuit, name, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(PathError, match=r"^\. cannot be written: it is a folder; give the name of a file$"):
            circuit.save(name)
        with pytest.raises(PathError, match=r"^\. cannot be read: it is a folder; give the name of a file$"):
            credo.load(name)

    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            (errno.EACCES, "permission is denied; change the permissions or choose another place"),
            (errno.EROFS, "the file system is read-only; choose another place"),
            (errno.ENOSPC, "there is no space left on the disk; free some or choose another place"),
            (errno.EIO, os.strerror(errno.EIO)),
        ],
    )
    def test_places_that_refuse(self, circuit, path, monkeypatch, code, reason):
        def refuse(*args, **kwargs):
            raise OSError(code, os.strerror(code), "a name that is no concern of the user")

        monkeypatch.setattr("builtins.open", refuse)
        with pytest.raises(PathError) as caught:
            circuit.save(path)
        assert str(caught.value) == f"{path} cannot be written: {reason}"
        with pytest.raises(PathError) as caught:
            credo.load(path)
        assert str(caught.value) == f"{path} cannot be read: {reason}"

    def test_a_file_that_may_not_be_written_is_not_replaced(self, circuit, path, monkeypatch):
        path.chmod(0o444)
        monkeypatch.setattr(paths.os, "access", lambda path, mode: False)  # what others than root are told
        with pytest.raises(PathError, match=r"c\.credo cannot be written: permission is denied"):
            circuit.save(path)

    @pytest.mark.skipif(os.name != "posix", reason="a device is a file on POSIX systems only")
    def test_devices_are_not_replaced(self, circuit):
        with pytest.raises(PathError, match=r"^/dev/null cannot be written: it is neither a file nor a new name; choose another name$"):
            circuit.save("/dev/null")
        with pytest.raises(FileFormatError, match="/dev/null is not a file written by Credo"):
            credo.load("/dev/null")

    @pytest.mark.parametrize("name", ["x" * 255, "é" * 127])
    def test_names_as_long_as_they_may_be(self, circuit, name, tmp_path):
        circuit.save(tmp_path / name)
        assert credo.load(tmp_path / name) == circuit

    def test_links_are_followed_and_kept(self, circuit, path, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        for target in (path, tmp_path / "elsewhere" / "new"):
            link = tmp_path / f"link to {target.name}"
            link.symlink_to(target)
            circuit.save(link)
            assert link.is_symlink()
            assert target.is_file()
            assert not target.is_symlink()
            assert credo.load(target) == credo.load(link) == circuit


class TestCopies:
    """Pickles and copies are the same circuit, as unchangeable as the first one, without what was only remembered."""

    @pytest.mark.parametrize("copied", [lambda c: pickle.loads(pickle.dumps(c)), copy.copy, copy.deepcopy], ids=["pickle", "copy", "deep"])
    def test_copies(self, circuit, copied):
        circuit.log_bounds([[0, 0, 0]])
        assert circuit.is_complete
        for original, new in ((circuit, copied(circuit)), (circuit.arrays, copied(circuit.arrays))):
            assert new == original
            arrays = getattr(new, "arrays", new)
            assert not any(array.flags.writeable for array in arrays.as_mapping().values())
        assert set(vars(copied(circuit))) == {"_arrays", "_schema"}
        assert set(vars(copied(circuit.arrays))) == set(DTYPES)
        assert np.array_equal(copied(circuit).log_bounds([[0, 0, 0]]), circuit.log_bounds([[0, 0, 0]]))

    def test_remembered_facts_are_not_pickled(self, circuit):
        size = len(pickle.dumps(circuit))
        circuit.log_bounds([[0, 0, 0]])
        assert circuit.is_selective in (True, False)
        assert len(pickle.dumps(circuit)) == size

    def test_a_pickle_that_lies_is_refused(self, circuit):
        _, state = circuit.arrays.__reduce__()
        with pytest.raises(CircuitError, match="the lower weights must lie in"):
            pickle.loads(
                pickle.dumps(circuit.arrays).replace(state[list(DTYPES).index("lower")].tobytes(), b"\xff" * 8 * len(circuit.arrays.lower))
            )


class TestSaving:
    @pytest.mark.parametrize("failing", ["fsync", "replace", "chmod"])
    def test_a_failed_write_leaves_the_old_file_whole(self, circuit, path, monkeypatch, failing):
        before = path.read_bytes()
        b = CircuitBuilder({"x": 2})
        other = b.freeze(b.leaf("x", [0.5, 0.5]))

        def fail(*args, **kwargs):
            raise OSError("no space left on device")

        path.chmod(0o640)
        monkeypatch.setattr(paths.os, failing, fail)
        with pytest.raises(PathError, match=r"c\.credo cannot be written: no space left on device$"):
            other.save(path)
        assert path.read_bytes() == before
        assert [entry.name for entry in path.parent.iterdir()] == [path.name], "nothing is left lying about"

    def test_an_interrupted_write_leaves_no_file(self, circuit, tmp_path, monkeypatch):
        def interrupt(*args):
            raise KeyboardInterrupt

        monkeypatch.setattr(paths.os, "replace", interrupt)
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
