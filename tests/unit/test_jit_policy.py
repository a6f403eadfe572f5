"""How kernels are compiled, and where the compiled code is kept. Each question is asked of a fresh interpreter."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from credo.kernels import jit

SOURCES = Path(jit.__file__).parents[2]
JIT_IS_OFF = bool(numba.config.DISABLE_JIT)

QUERY = """
import json
import numba
before = numba.config.CACHE_DIR
from credo import CircuitBuilder, Intervals
from credo.kernels import jit
b = CircuitBuilder({"x": 2})
answer = b.freeze(b.leaf("x", Intervals([0.6, 0.2], [0.8, 0.4]))).log_bounds([[1]]).tolist()[0]
"""
TINY = """
import json
import numba
before = numba.config.CACHE_DIR
from credo.kernels import jit
import tiny
answer = tiny.double(21)
"""
REPORT = """
folder = jit.cache_folder()
print(json.dumps({"answer": answer, "folder": folder and str(folder), "before": before, "after": numba.config.CACHE_DIR}))
"""


def ask(program, *folders, **environment):
    """Return what a program reports when a fresh interpreter runs it, with every warning an error."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    settings |= {"PYTHONPATH": os.pathsep.join(map(str, (SOURCES, *folders))), **{name: str(value) for name, value in environment.items()}}
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", program + REPORT], env=settings, capture_output=True, text=True, check=True
    )
    assert answer.stderr == ""
    return json.loads(answer.stdout)


class TestFolder:
    def test_it_can_be_moved(self, monkeypatch, tmp_path):
        monkeypatch.setenv("CREDO_CACHE_DIR", str(tmp_path))
        folder = jit.cache_folder()
        assert folder.is_dir()
        assert folder.parent == tmp_path / "kernels"
        assert list(folder.iterdir()) == [], "trying whether it can be written leaves nothing behind"

    def test_the_user_has_one(self, monkeypatch, tmp_path):
        monkeypatch.delenv("CREDO_CACHE_DIR", raising=False)
        monkeypatch.setattr(jit.platformdirs, "user_cache_dir", lambda name, **_: str(tmp_path / name))
        assert jit.cache_folder().parent == tmp_path / "credo" / "kernels"

    def test_its_name_depends_on_every_kernel_source_and_on_numba(self, monkeypatch, tmp_path):
        monkeypatch.setenv("CREDO_CACHE_DIR", str(tmp_path / "cache"))
        copy = tmp_path / "kernels"
        copy.mkdir()
        for source in Path(jit.__file__).parent.glob("*.py"):
            (copy / source.name).write_bytes(source.read_bytes())
        before = jit.cache_folder()
        monkeypatch.setattr(jit, "__file__", str(copy / "jit.py"))
        names = {jit.cache_folder().name}
        assert names == {before.name}
        (copy / "passes.py").write_text((copy / "passes.py").read_text() + "\n")
        names.add(jit.cache_folder().name)
        (copy / "another.py").write_text("")
        names.add(jit.cache_folder().name)
        (copy / "another.py").rename(copy / "renamed.py")
        names.add(jit.cache_folder().name)
        monkeypatch.setattr(jit.numba, "__version__", "0.0.0")
        names.add(jit.cache_folder().name)
        assert len(names) == 5

    @pytest.mark.parametrize("blocked", ["file in the way", "no right to write"])
    def test_there_is_none_where_nothing_can_be_written(self, monkeypatch, tmp_path, blocked):
        if blocked == "file in the way":
            (tmp_path / "cache").write_text("a file")
        else:

            def refuse(*args, **kwargs):
                raise PermissionError("read-only")

            monkeypatch.setattr(jit.tempfile, "TemporaryFile", refuse)
        monkeypatch.setenv("CREDO_CACHE_DIR", str(tmp_path / "cache"))
        assert jit.cache_folder() is None


class TestDecorators:
    @pytest.mark.parametrize("writable", [True, False])
    def test_kernels_compile_with_and_without_a_cache(self, monkeypatch, tmp_path, writable):
        monkeypatch.setattr(jit, "_FOLDER", tmp_path if writable else None)
        before = numba.config.CACHE_DIR

        def double(x):
            return 2 * x

        assert jit.kernel(double)(21) == 42
        assert before == numba.config.CACHE_DIR
        assert bool(list(tmp_path.rglob("*.nbi"))) == (writable and not JIT_IS_OFF)

    def test_the_setting_is_put_back_after_a_failure(self, monkeypatch, tmp_path):
        def fail(*args, **kwargs):
            assert str(tmp_path) == numba.config.CACHE_DIR
            raise RuntimeError("no locator")

        monkeypatch.setattr(jit, "_FOLDER", tmp_path)
        monkeypatch.setattr(jit.numba, "njit", fail)
        monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
        before = numba.config.CACHE_DIR
        with pytest.raises(RuntimeError, match="no locator"):
            jit.kernel(len)
        assert before == numba.config.CACHE_DIR

    def test_inlined_helpers_are_callable(self):
        def triple(x):
            return 3 * x

        assert jit.inlined(triple)(7) == 21


@pytest.mark.slow
class TestFreshInterpreter:
    def test_compiled_code_is_kept_and_other_libraries_keep_their_own_folder(self, tmp_path):
        (tmp_path / "tiny.py").write_text("from credo.kernels.jit import kernel\n\n\n@kernel\ndef double(x):\n    return 2 * x\n")
        first = ask(TINY, tmp_path, CREDO_CACHE_DIR=tmp_path / "ours", NUMBA_CACHE_DIR=tmp_path / "theirs")
        assert first["answer"] == 42
        assert first["before"] == first["after"] == str(tmp_path / "theirs")
        kept = sorted(Path(first["folder"]).rglob("*.nb?"))
        assert bool(kept) != JIT_IS_OFF
        assert not (tmp_path / "theirs").exists()
        times = [entry.stat().st_mtime_ns for entry in kept]
        assert ask(TINY, tmp_path, CREDO_CACHE_DIR=tmp_path / "ours")["answer"] == 42
        assert [entry.stat().st_mtime_ns for entry in kept] == times, "the second time nothing is compiled"

    def test_without_a_writable_folder_everything_still_works(self, tmp_path):
        (tmp_path / "file").write_text("in the way")
        found = ask(QUERY, CREDO_CACHE_DIR=tmp_path / "file", NUMBA_DISABLE_JIT=1)
        assert found["folder"] is None
        assert found["answer"] == pytest.approx([math.log(0.2), math.log(0.4)])
