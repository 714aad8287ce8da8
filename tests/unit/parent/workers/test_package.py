"""The private folder that holds opperf alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opperf.domain.errors import EnvironmentFailure
from opperf.parent.sources.live_function import write_source
from opperf.parent.store.machine_file import FLOORS
from opperf.parent.workers import package
from opperf.parent.workers.package import autostart_folder, cache_folder, ensure_folder, package_folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small package with a module, a folder, a cached module and a data file."""
    source = tmp_path / "checkout" / "opperf"
    for name in ("__init__.py", "py.typed", "child/__main__.py", "__pycache__/x.py", "data.txt"):
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")
    (source.parent / "neighbour.py").write_text("")
    return source


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_folder_holds_the_package_alone(cache: Path, source: Path) -> None:
    folder = package_folder(source)
    assert _files(folder) == ["opperf/__init__.py", "opperf/child/__main__.py", "opperf/py.typed"]
    assert (folder / "opperf/__init__.py").read_bytes() == (source / "__init__.py").read_bytes()


def test_a_folder_that_holds_only_folders_is_copied(cache: Path, source: Path) -> None:
    (source / "a/b").mkdir(parents=True)
    (source / "a/b/loop.c").write_text("")
    assert "opperf/a/b/loop.c" in _files(package_folder(source))


def test_the_same_content_gives_the_same_folder(cache: Path, source: Path) -> None:
    first = package_folder(source)
    os.utime(source / "__init__.py", (0, 0))
    assert package_folder(source) == first
    assert [path.name for path in (cache / "package").iterdir()] == [first.name]


@pytest.mark.parametrize("name", ["__init__.py", "child/new.py"])
def test_another_content_gives_another_folder(cache: Path, source: Path, name: str) -> None:
    first = package_folder(source)
    (source / name).write_text("changed = True\n")
    assert package_folder(source) != first
    assert first.is_dir()


def test_a_copy_that_another_process_finished_first_is_used(
    cache: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = package_folder(source)
    mine = (expected / "opperf/__init__.py").stat().st_ino
    monkeypatch.setattr(package, "_prune", lambda home, keep: None)
    package._write(package._contents(source), expected.parent, expected)
    assert (expected / "opperf/__init__.py").stat().st_ino == mine
    assert [path.name for path in expected.parent.iterdir()] == [expected.name]


def test_copies_long_unused_are_removed_when_a_new_one_is_made(cache: Path, source: Path) -> None:
    old = package_folder(source)
    os.utime(old, (0, 0))
    (source / "__init__.py").write_text("changed = True\n")
    package_folder(source)
    assert not old.exists()


def test_the_running_package_can_be_copied(cache: Path) -> None:
    files = set(_files(package_folder()))
    assert {"opperf/domain/errors.py", "opperf/child/__main__.py", "opperf/profiler.py"} <= files
    assert [name for name in files if name.startswith("opperf/parent/")] == []


def test_the_folder_that_starts_the_profiler_has_its_beginning_beside_the_package(cache: Path) -> None:
    folder = autostart_folder()
    beside = [name for name in _files(folder) if not name.startswith("opperf/")]
    assert beside == ["sitecustomize.py"]
    assert (folder / "sitecustomize.py").read_bytes() == (folder / "opperf/sitecustomize.py").read_bytes()
    assert set(_files(folder)) > set(_files(package_folder()))
    assert "opperf/parent/measuring/session.py" in _files(folder)  # the script may use it


def test_a_cache_that_cannot_be_written_is_an_environment_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(EnvironmentFailure, match="OPPERF_CACHE_DIR"):
        package_folder()


def test_the_cache_folder_is_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", "here")
    assert cache_folder() == Path.cwd() / "here"
    monkeypatch.delenv("OPPERF_CACHE_DIR")
    assert cache_folder().is_absolute()


def test_the_cache_is_its_users_own_whatever_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "new" / "cache"))
    before = os.umask(0)
    try:
        package_folder()
        ensure_folder(cache_folder() / "loops")
        write_source("def f(): pass", "f", cache_folder())
        FLOORS.add(cache_folder() / "machine" / "floors.json", [])
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "new").rglob("*") if path.is_dir()}
    assert {"cache", "package", "loops", "functions", "machine"} <= modes.keys()
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    assert modes["cache"] == 0o700


def test_a_cache_folder_that_is_there_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    ensure_folder(tmp_path / "loops")
    assert (tmp_path.stat().st_mode & 0o777, (tmp_path / "loops").stat().st_mode & 0o777) == (0o755, 0o700)
