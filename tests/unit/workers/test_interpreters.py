"""Which interpreter is meant, and what the cache is taken to hold, without building anything."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from opperf.environment import CURRENT, EnvironmentSpec
from opperf.errors import InputError
from opperf.workers import installer, interpreters

_MARK = {
    "text": "numpy==1.26.4",
    "requirements": ["numpy==1.26.4"],
    "executable": "attempt-1/bin/python",
    "python": "3.11.7",
    "frameworks": ["numpy"],
    "packages": ["numpy==1.26.4"],
    "size": 1000,
    "created": 0.0,
    "uv": "0.13.8",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the environments, in an empty cache."""
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path))
    home = tmp_path / "environments"
    home.mkdir()
    return home


def _built(home: Path, name: str, **said: object) -> Path:
    """Put a folder there that looks built."""
    python = home / name / "attempt-1/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    mark = home / name / "ready.json"
    mark.write_text(json.dumps(_MARK | {"name": name} | said))
    return mark


def _nothing_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "imports_here", lambda framework: framework == "null")


def test_the_current_interpreter_is_used_when_the_framework_imports_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "imports_here", lambda framework: True)
    assert interpreters.settled(CURRENT, "mxnet") == CURRENT
    assert interpreters.interpreter(CURRENT, framework="mxnet") == Path(sys.executable)


def test_current_gives_way_to_the_preset_of_a_framework_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    _nothing_imports(monkeypatch)
    assert interpreters.settled(CURRENT, "mxnet") == EnvironmentSpec.parse("mxnet")
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


def test_only_environments_with_a_mark_are_listed(home: Path) -> None:
    _built(home, "numpy-1")
    (home / "numpy-2" / "attempt-1").mkdir(parents=True)
    (built,) = interpreters.environments()
    assert (built.name, built.packages) == ("numpy-1", ("numpy==1.26.4",))
    assert built.executable == str(home / "numpy-1/attempt-1/bin/python")
    assert built.age == pytest.approx(time.time(), abs=60)


@pytest.mark.parametrize("mark", ["", "{", "[]", "{}", json.dumps(_MARK | {"requirements": 1})])
def test_a_mark_that_cannot_be_read_is_no_mark(home: Path, mark: str) -> None:
    _built(home, "numpy-1").write_text(mark)
    assert interpreters.environments() == []


def test_an_environment_whose_python_is_gone_is_not_used(home: Path) -> None:
    _built(home, "numpy-1")
    python = home / "numpy-1/attempt-1/bin/python"
    python.unlink()
    python.symlink_to(home / "removed")
    assert interpreters.environments() == []


@pytest.mark.parametrize("name", ["numpy-1", "numpy==1.26.4", " numpy == 1.26.4"])
def test_an_environment_is_removed_by_either_name(home: Path, name: str) -> None:
    _built(home, "numpy-1")
    _built(home, "numpy-2", text="numpy")
    assert interpreters.remove(name) == ["numpy-1"]
    assert [built.name for built in interpreters.environments()] == ["numpy-2"]


def test_everything_can_be_removed_half_built_ones_too(home: Path) -> None:
    _built(home, "numpy-1")
    (home / "torch-1").mkdir()
    assert interpreters.remove_all() == ["numpy-1", "torch-1"]
    assert [path for path in home.iterdir() if path.is_dir()] == []


def test_removing_what_is_not_there_names_what_is_near(home: Path) -> None:
    _built(home, "numpy-1")
    with pytest.raises(InputError, match=r"numpy==1\.26\.4"):
        interpreters.remove("numpy==1.26.3")


@pytest.mark.parametrize("text", ["current", "python=/usr/bin/python3"])
def test_what_is_not_opperfs_to_build_is_refused(home: Path, text: str) -> None:
    with pytest.raises(InputError, match="not one that opperf builds"):
        interpreters.create(EnvironmentSpec.parse(text))


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        interpreters.interpreter(EnvironmentSpec.parse(f"python={tmp_path}/python"), framework="numpy")


def test_a_wheel_that_is_not_there_is_refused_before_anything_is_built(home: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        interpreters.create(EnvironmentSpec.parse("numpy @ file:///nowhere/numpy.whl"))


def test_a_newer_python_than_mxnet_has_packages_for_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 13, 0, "final", 0))
    assert interpreters._python_request(EnvironmentSpec.parse("mxnet")) == "3.11"
    assert interpreters._python_request(EnvironmentSpec.parse("torch")) == sys.executable


def test_folders_of_wheels_are_passed_as_uv_and_pip_take_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", "first,https://host/links")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{tmp_path}/a  {tmp_path}/missing\nhttps://other/links")
    places = ["first", "https://host/links", f"{tmp_path}/a", "https://other/links"]
    assert installer.find_links() == [part for place in places for part in ("--find-links", place)]


def test_no_folder_of_wheels_gives_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert installer.find_links() == []
