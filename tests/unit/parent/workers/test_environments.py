"""What the cache of environments is taken to hold, without building anything."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from opperf.domain.errors import InputError
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers import environments, installer

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


def test_only_environments_with_a_mark_are_listed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _built(home, "numpy-1")
    (home / "numpy-2" / "attempt-1").mkdir(parents=True)
    (built,) = environments.environments()
    assert (built.name, built.packages) == ("numpy-1", ("numpy==1.26.4",))
    assert built.executable == str(home / "numpy-1/attempt-1/bin/python")
    monkeypatch.setattr(time, "time", lambda: 100.0)
    assert built.age == 100.0


@pytest.mark.parametrize("mark", ["", "{", "[]", "{}", json.dumps(_MARK | {"requirements": 1})])
def test_a_mark_that_cannot_be_read_is_no_mark(home: Path, mark: str) -> None:
    _built(home, "numpy-1").write_text(mark)
    assert environments.environments() == []


def test_an_environment_whose_python_is_gone_is_not_used(home: Path) -> None:
    _built(home, "numpy-1")
    python = home / "numpy-1/attempt-1/bin/python"
    python.unlink()
    python.symlink_to(home / "removed")
    assert environments.environments() == []


def test_a_mark_that_names_a_python_elsewhere_is_no_mark(home: Path) -> None:
    _built(home, "numpy-1")
    for executable in (sys.executable, "../numpy-1/attempt-1/bin/python"):
        _built(home, f"numpy-{len(list(home.iterdir())) + 1}", executable=executable)
    assert [built.name for built in environments.environments()] == ["numpy-1"]


@pytest.mark.parametrize("name", ["numpy-1", "numpy==1.26.4", " numpy == 1.26.4"])
def test_an_environment_is_removed_by_either_name(home: Path, name: str) -> None:
    _built(home, "numpy-1")
    _built(home, "numpy-2", text="numpy")
    assert environments.remove(name) == ["numpy-1"]
    assert [built.name for built in environments.environments()] == ["numpy-2"]


def test_everything_can_be_removed_half_built_ones_too(home: Path) -> None:
    _built(home, "numpy-1")
    (home / "torch-1").mkdir()
    assert environments.remove_all() == ["numpy-1", "torch-1"]
    assert [path for path in home.iterdir() if path.is_dir()] == []


def test_removing_what_is_not_there_names_what_is_near(home: Path) -> None:
    _built(home, "numpy-1")
    with pytest.raises(InputError, match=r"numpy==1\.26\.4"):
        environments.remove("numpy==1.26.3")


@pytest.mark.parametrize("text", ["current", "python=/usr/bin/python3"])
def test_what_is_not_opperfs_to_build_is_refused(home: Path, text: str) -> None:
    with pytest.raises(InputError, match="is not one that opperf can build"):
        environments.create(EnvironmentSpec.parse(text))


def test_a_wheel_that_is_not_there_is_refused_before_anything_is_built(home: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        environments.create(EnvironmentSpec.parse("numpy @ file:///nowhere/numpy.whl"))


def test_an_environment_is_another_one_with_other_packages_files_and_commits(tmp_path: Path, home: Path) -> None:
    file = tmp_path / "req.txt"

    def name_of(text: str) -> str:
        return environments._folder_name(EnvironmentSpec.parse(text), "3.12")

    def names_with(content: str) -> str:
        file.write_text(content)
        return name_of(f"numpy==2.2.6 + -r {file}")

    plain = [name_of(text) for text in ("numpy==2.2.6", "numpy==2.2.6 + numba==1", "numpy==2.2.6 + numba==2")]
    assert len({*plain, names_with("six==1.15"), names_with("six==1.16")}) == 5
    assert names_with("six==1.16") == names_with("six==1.16")
    file.unlink()
    with pytest.raises(InputError, match="cannot read"):
        name_of(f"numpy==2.2.6 + -r {file}")


def test_a_repository_is_its_commit(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        options = ("-c", "user.name=a", "-c", "user.email=a@example", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", "-C", tmp_path, *options, *words], check=True, capture_output=True
        ).stdout.decode()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    first = git("rev-parse", "HEAD").strip()
    assert environments._file_state(f"git+file://{tmp_path}") == first
    git("commit", "-q", "--allow-empty", "-m", "second")
    assert environments._file_state(f"mine @ git+file://{tmp_path}") != first
    assert environments._file_state(f"mine @ git+file://{tmp_path}@{first}") == first
    with pytest.raises(InputError, match="no commit `v9`"):
        environments._file_state(f"git+file://{tmp_path}@v9")


def test_a_newer_python_than_mxnet_has_packages_for_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 13, 0, "final", 0))
    assert environments._python_request(EnvironmentSpec.parse("mxnet")) == "3.11"
    assert environments._python_request(EnvironmentSpec.parse("torch")) == sys.executable


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


def test_who_comes_second_says_so_and_waits_for_the_first(home: Path) -> None:
    first, notes = FileLock(home / "numpy-1.lock"), []

    def progress(text: str) -> None:
        notes.append(text)
        first.release()

    first.acquire()
    with environments._lock(home / "numpy-1", "numpy==1", progress):
        assert notes == ["waiting for another process to build numpy==1 ..."]
