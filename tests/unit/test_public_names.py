"""What the package offers: importing it is cheap, and every public name is explained with an example."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import credo
from credo import Circuit, CircuitBuilder, Contaminated, Intervals, Precise, Schema, Vertices, errors

HEAVY = ["numba", "scipy", "sklearn", "numpy", "pandas", "matplotlib", "llvmlite"]


def modules_after(program):
    """Return the names of all modules that a fresh interpreter has loaded after a program."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    settings["PYTHONPATH"] = str(Path(credo.__file__).parents[1])
    program += "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=settings)
    return json.loads(answer.stdout)


class TestLazyImport:
    def test_importing_the_package_imports_nothing_heavy(self):
        loaded = modules_after("import credo")
        assert [name for name in HEAVY if name in loaded] == []
        assert [name for name in loaded if name.startswith("credo")] == ["credo"]

    def test_names_can_be_listed_without_loading_them(self):
        loaded = modules_after("import credo; assert 'Circuit' in dir(credo) and credo.__version__")
        assert [name for name in HEAVY if name in loaded] == []

    @pytest.mark.parametrize("name", ["Bounds", "CredoError", "Schema"])
    def test_light_names_need_no_compiler(self, name):
        loaded = modules_after(f"from credo import {name}")
        assert "numba" not in loaded
        assert "scipy" not in loaded

    def test_building_needs_no_scikit_learn(self):
        assert "sklearn" not in modules_after("from credo import CircuitBuilder")

    def test_every_name_is_there(self):
        assert credo.__all__ == sorted(credo.__all__)
        assert set(credo.__all__) <= set(dir(credo))
        for name in credo.__all__:
            assert getattr(credo, name) is not None

    def test_errors_are_reached_through_the_package(self):
        loaded = modules_after("import credo; assert issubclass(credo.errors.PathError, OSError)")
        assert [name for name in loaded if name.startswith("credo")] == ["credo", "credo.errors"]

    def test_unknown_names(self):
        with pytest.raises(AttributeError, match="'credo' has no attribute 'Forest'"):
            credo.Forest  # noqa: B018

    def test_star_import(self):
        names = {}
        exec("from credo import *", names)
        assert set(credo.__all__) <= set(names)

    def test_the_stub_has_the_same_names(self):
        stub = inspect.getsourcefile(credo).removesuffix(".py") + ".pyi"
        with open(stub, encoding="utf-8") as file:
            imported = {line.split(" as ")[1].strip() for line in file if " as " in line}
        assert imported == set(credo.__all__)


class TestDocumentation:
    @pytest.mark.parametrize("name", credo.__all__)
    def test_public_names_are_explained_with_an_example(self, name):
        public = getattr(credo, name)
        assert inspect.getdoc(public)
        if inspect.ismodule(public):
            own = [value for value in vars(public).values() if inspect.isfunction(value) and value.__module__ == public.__name__]
            explained = [value.__doc__ or "" for value in own if not value.__name__.startswith("_")] or [public.__doc__]
        else:
            explained = [inspect.getdoc(public)]
        assert all(">>>" in text for text in explained)

    @pytest.mark.parametrize(
        "owner",
        [Circuit, CircuitBuilder, Precise, Intervals, Vertices, Contaminated, Schema, credo.Bounds],
        ids=lambda owner: owner.__name__,
    )
    def test_public_methods_are_explained(self, owner):
        members = {
            name: value
            for name, value in vars(owner).items()
            if not name.startswith("_") and (callable(value) or isinstance(value, property | classmethod))
        }
        assert members
        for name, value in members.items():
            assert getattr(value, "__doc__", None), f"{owner.__name__}.{name}"

    @pytest.mark.parametrize("owner", [Circuit, CircuitBuilder], ids=lambda owner: owner.__name__)
    def test_methods_of_circuits_and_builders_have_examples(self, owner):
        missing = [
            name
            for name, value in vars(owner).items()
            if inspect.isfunction(value) and not name.startswith("_") and ">>>" not in (value.__doc__ or "")
        ]
        assert missing == []

    @pytest.mark.parametrize("kind", [Precise, Intervals, Vertices, Contaminated], ids=lambda kind: kind.__name__)
    def test_every_kind_of_set_shows_how_it_comes_from_counts(self, kind):
        assert ">>>" in kind.from_counts.__doc__

    def test_every_error_is_explained_and_is_a_credo_error(self):
        kinds = [value for value in vars(errors).values() if inspect.isclass(value) and not issubclass(value, Warning)]
        assert len(kinds) >= 7
        for kind in kinds:
            assert issubclass(kind, errors.CredoError)
            assert kind.__doc__
            assert kind is errors.CredoError or f"`{kind.__name__}`" in errors.CredoError.__doc__, "the root tells of all kinds"
