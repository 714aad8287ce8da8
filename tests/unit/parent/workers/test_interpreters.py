"""Which interpreter is meant, without building anything."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from opperf.domain.errors import InputError
from opperf.parent.documents.environment import CURRENT, EnvironmentSpec
from opperf.parent.workers import interpreters


def _nothing_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "imports_here", lambda framework: framework == "null")


def test_the_current_interpreter_is_used_when_the_framework_imports_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "imports_here", lambda framework: True)
    assert interpreters.choose_environment(CURRENT, "mxnet") == CURRENT
    assert interpreters.interpreter(CURRENT, framework="mxnet") == Path(sys.executable)


def test_current_gives_way_to_the_preset_of_a_framework_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    _nothing_imports(monkeypatch)
    assert interpreters.choose_environment(CURRENT, "mxnet") == EnvironmentSpec.parse("mxnet")
    assert interpreters.importable() == ()


def test_the_null_framework_runs_in_the_current_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    _nothing_imports(monkeypatch)
    assert interpreters.interpreter(EnvironmentSpec.parse("null"), framework="null") == Path(sys.executable)


def test_a_folder_with_the_name_of_a_framework_is_no_framework(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mxnet").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "modules", {name: kept for name, kept in sys.modules.items() if name != "mxnet"})
    assert not interpreters.imports_here("mxnet")


def test_a_framework_is_found_without_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mxnet.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert interpreters.imports_here("mxnet")


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        interpreters.interpreter(EnvironmentSpec.parse(f"python={tmp_path}/python"), framework="numpy")


def test_an_environment_gets_a_library_of_layers_only_where_it_is_needed_and_missing() -> None:
    def chosen(text: str, framework: str) -> str:
        return interpreters.choose_environment(EnvironmentSpec.parse(text), framework, ("keras",)).text

    assert chosen("torch", "torch") == "torch + keras"
    assert chosen("torch + keras==3.9.0", "torch") == "torch + keras==3.9.0"
    assert chosen("jax==0.9.2", "jax") == "jax==0.9.2 + keras"
    assert chosen("tensorflow", "tensorflow") == "tensorflow"
    assert chosen("python=/bin/python", "torch") == "python=/bin/python"
    assert chosen("numpy", "numpy") == "numpy"
    assert interpreters.program_environment("jax", ("flax", "keras")).text.split(" + ")[::2] == ["jax", "keras"]
    assert interpreters.program_environment("tensorflow", ("keras",)).text == "tensorflow"


def test_current_gives_way_where_the_library_of_layers_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("jax", "keras"):
        (tmp_path / f"{name}.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "modules", {name: kept for name, kept in sys.modules.items() if name != "jax"})
    assert interpreters.choose_environment(CURRENT, "jax", ("keras",)) == CURRENT
    (tmp_path / "keras.py").unlink()
    importlib.invalidate_caches()
    assert interpreters.choose_environment(CURRENT, "jax", ("keras",)).text == "jax + keras"
    assert interpreters.choose_environment(CURRENT, "jax") == CURRENT


def test_a_program_gets_the_libraries_that_it_imports_where_this_interpreter_lacks_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _nothing_imports(monkeypatch)
    assert interpreters.program_environment("jax", ["flax"]).text == "jax + flax==0.12.8"
    assert interpreters.program_environment("jax").text == "jax"
    for name in ("jax", "flax"):
        (tmp_path / f"{name}.py").touch()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "modules", {name: kept for name, kept in sys.modules.items() if name != "jax"})
    importlib.invalidate_caches()
    assert interpreters.program_environment("jax", ["flax"]) == CURRENT
