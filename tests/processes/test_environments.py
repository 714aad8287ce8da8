"""Environments built for real, by uv: from the package index, and from small packages made here."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.parent.cli.env import app
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers import environments, interpreters
from opperf.parent.workers.package import package_folder

#: How long anything here may take before it is called hung. Seconds.
DEADLINE = 300.0

_CREATE = """
import sys
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers import environments
built = environments.create(EnvironmentSpec.parse(sys.argv[1]), progress=lambda text: print(text, flush=True))
print(built.executable)
"""

# Builds the package only when `go` is there; says that it has begun by making `begun`.
_SLOW_BACKEND = """
import os, pathlib, time, zipfile
here = pathlib.Path({folder!r})
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    (here / "begun").touch()
    give_up = time.monotonic() + 300
    while not (here / "go").exists() and time.monotonic() < give_up:
        time.sleep(0.02)
    name = "slow-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        info = "slow-1.0.dist-info/"
        wheel.writestr("slow.py", "")
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: slow\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""


#: A package that needs nothing to be built: its own module makes the wheel.
_OWN_BACKEND = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "cloned"
version = "1.0"
"""
_BACKEND = """
import os, zipfile

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "cloned-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        info = "cloned-1.0.dist-info/"
        wheel.writestr("cloned.py", "made = {made}")
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: cloned\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; uv keeps its own, as users have it."""
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def shared(cache: Path, one_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of all tests instead: for what is asked of an environment that is there."""
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(one_cache))


def _make_wheel(folder: Path, name: str, *, module: str, text: str = "") -> Path:
    """Make a wheel of one module, version 1.0."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{module}.py", text)
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


def _make_slow_source(folder: Path) -> Path:
    """Make a source package that takes as long to build as the test wants."""
    files = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "PKG-INFO": "Metadata-Version: 2.1\nName: slow\nVersion: 1.0\n",
        "backend.py": _SLOW_BACKEND.format(folder=str(folder)),
    }
    path = folder / "slow-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"slow-1.0/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def _creating(text: str) -> subprocess.Popen[str]:
    """Start another process that asks for an environment."""
    return subprocess.Popen(
        [sys.executable, "-c", _CREATE, text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _run(python: Path, code: str, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, timeout=DEADLINE, env=kept | variables
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _wait_for(path: Path) -> None:
    give_up = time.monotonic() + DEADLINE
    while not path.exists():
        assert time.monotonic() < give_up, f"{path.name} has not come"
        time.sleep(0.02)


def test_a_requirement_is_built_once_and_then_used() -> None:
    spec = EnvironmentSpec.parse("numpy==1.26.4")
    said: list[str] = []
    python = interpreters.interpreter(spec, framework="numpy", progress=said.append)
    assert said[0] == "building environment numpy==1.26.4 ..."
    assert said[1].startswith("built in ")
    assert _run(python, "import numpy; print(numpy.__version__)") == "1.26.4"
    (built,) = environments.environments()
    assert (built.text, built.frameworks, built.packages) == ("numpy==1.26.4", ("numpy",), ("numpy==1.26.4",))
    assert built.size > 1e7
    assert interpreters.interpreter(spec, framework="numpy", progress=said.append) == python
    assert len(said) == 2


def test_an_old_mxnet_comes_with_a_numpy_that_it_works_with() -> None:
    python = interpreters.interpreter(EnvironmentSpec.parse("mxnet-mkl==1.6.0"), framework="mxnet")
    code = "import mxnet as mx, numpy; print(mx.__version__, numpy.__version__, (mx.nd.ones(2) + 1).asnumpy().tolist())"
    assert _run(python, code) == "1.6.0 1.23.5 [2.0, 2.0]"


@pytest.mark.usefixtures("shared")
def test_a_child_in_a_built_environment_sees_opperf_and_its_own_packages_only() -> None:
    python = interpreters.interpreter(EnvironmentSpec.parse("numpy==1.26.4"), framework="numpy")
    code = (
        "import importlib.util, opperf.domain.errors, numpy;"
        "print(opperf.domain.errors.__file__, numpy.__version__, importlib.util.find_spec('psutil'))"
    )
    folder = package_folder()
    assert _run(python, code, PYTHONPATH=str(folder)) == f"{folder}/opperf/domain/errors.py 1.26.4 None"


def test_two_processes_that_ask_at_once_build_once() -> None:
    asking = [_creating("numpy==1.26.4") for _ in range(2)]
    heard = [process.communicate(timeout=DEADLINE) for process in asking]
    assert [process.returncode for process in asking] == [0, 0], heard
    lines = [line for out, _ in heard for line in out.splitlines()]
    assert sum(line.startswith("building") for line in lines) == 1
    assert heard[0][0].splitlines()[-1] == heard[1][0].splitlines()[-1]
    assert len(environments.environments()) == 1


def test_a_build_that_was_killed_is_not_used_and_is_built_anew(tmp_path: Path, cache: Path) -> None:
    text = f"slow @ file://{_make_slow_source(tmp_path)}"
    killed = _creating(text)
    _wait_for(tmp_path / "begun")
    (half,) = (path for path in (cache / "environments").iterdir() if path.is_dir())
    (attempt,) = half.iterdir()
    assert (attempt / "bin/python").exists()
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=DEADLINE)
    assert environments.environments() == []
    # uv has outlived its parent; it goes on, into the folder of the attempt that was killed.
    (tmp_path / "go").touch()
    said: list[str] = []
    built = environments.create(EnvironmentSpec.parse(text), progress=said.append)
    assert said[0].startswith("building")
    assert _run(Path(built.executable), "import slow; print('here')") == "here"
    assert not Path(built.executable).is_relative_to(attempt)


def test_a_second_process_says_that_it_waits_for_the_first(tmp_path: Path) -> None:
    text = f"slow @ file://{_make_slow_source(tmp_path)}"
    first = _creating(text)
    _wait_for(tmp_path / "begun")
    second = _creating(text)
    assert second.stdout is not None
    assert second.stdout.readline().startswith("waiting for another process to build slow")
    (tmp_path / "go").touch()
    (out, problems), (other, _) = first.communicate(timeout=DEADLINE), second.communicate(timeout=DEADLINE)
    assert out.splitlines()[-1:] == other.splitlines()[-1:], problems


def test_a_wheel_that_was_made_anew_is_another_environment(tmp_path: Path) -> None:
    wheel = _make_wheel(tmp_path, "torch", module="torch", text="made = 1\n")
    spec = EnvironmentSpec.parse(f"torch@ file://{wheel}")
    first = interpreters.interpreter(spec, framework="torch")
    _make_wheel(tmp_path, "torch", module="torch", text="made = 22\n")
    second = interpreters.interpreter(spec, framework="torch")
    assert [_run(python, "import torch; print(torch.made)") for python in (first, second)] == ["1", "22"]


def test_wheels_repositories_and_files_of_requirements_are_installed_in_addition(tmp_path: Path) -> None:
    base = _make_wheel(tmp_path, "torch", module="torch")
    beside = _make_wheel(tmp_path, "beside", module="beside", text="made = 1\n")
    _make_wheel(tmp_path, "listed", module="listed", text="made = 2\n")
    (tmp_path / "requirements.txt").write_text(f"listed @ file://{tmp_path}/listed-1.0-py3-none-any.whl\n")
    repository = tmp_path / "repository"

    def commit(made: int) -> None:
        repository.mkdir(exist_ok=True)
        (repository / "pyproject.toml").write_text(_OWN_BACKEND)
        (repository / "backend.py").write_text(_BACKEND.format(made=made))
        _git(repository, "init", "--quiet")
        _git(repository, "add", "--all")
        _git(repository, "commit", "--quiet", "--message", f"Make {made}")

    def install() -> tuple[str, str]:
        text = f"torch @ file://{base} + {beside} + git+file://{repository} + -r {tmp_path}/requirements.txt"
        python = interpreters.interpreter(EnvironmentSpec.parse(text), framework="torch")
        words = _run(python, "import beside, cloned, listed; print(beside.made, listed.made, cloned.made)")
        return words, str(python)

    commit(3)
    first = install()
    assert first[0] == "1 2 3"
    assert install() == first  # nothing has changed
    commit(4)
    (tmp_path / "requirements.txt").write_text((tmp_path / "requirements.txt").read_text() + "# read again\n")
    second = install()
    assert second[0] == "1 2 4"
    assert second[1] != first[1]
    (built, other) = environments.environments()
    assert built.text == other.text  # as records have it; what stands behind the names decides which folder it is


def _git(repository: Path, *words: str) -> None:
    """Run git, whoever is logged in here."""
    author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(repository), *author, *words], check=True, capture_output=True)


def test_an_impossible_requirement_says_what_uv_found_and_leaves_nothing(cache: Path) -> None:
    with pytest.raises(EnvironmentFailure) as caught:
        environments.create(EnvironmentSpec.parse("numpy==1.2.3.4"))
    assert "environment `numpy==1.2.3.4` cannot be built" in str(caught.value)
    assert "the package index has no numpy 1.2.3.4" in str(caught.value)
    assert "hint: " in str(caught.value)
    assert [path for path in (cache / "environments").iterdir() if path.is_dir()] == []


def test_a_password_in_the_address_of_a_wheel_stands_nowhere_when_its_build_fails(tmp_path: Path, cache: Path) -> None:
    wheel = "numpy @ https://ann:s3cret@127.0.0.1:9/numpy-2.0-py3-none-any.whl"
    words = ["run", "add", "--environment", wheel, "--framework", "numpy", "--output", str(tmp_path / "r.json")]
    done = subprocess.run([sys.executable, "-m", "opperf", *words], capture_output=True, text=True, timeout=DEADLINE)
    assert "numpy @ https://ann:***@127.0.0.1:9" in done.stdout + done.stderr
    files = [path.read_bytes() for folder in (tmp_path, cache) for path in folder.rglob("*") if path.is_file()]
    assert not [one for one in (*files, done.stdout.encode(), done.stderr.encode()) if b"s3cret" in one]


def test_a_misspelt_package_is_answered_with_the_name_that_is_near() -> None:
    with pytest.raises(EnvironmentFailure, match="did you mean `mxnet`"):
        environments.create(EnvironmentSpec.parse("mxnett==0.0.0"))


def test_wheels_in_the_folders_of_pip_and_of_uv_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _make_wheel(tmp_path / "pip", "numpy_in_the_folder_of_pip", module="numpy")
    _make_wheel(tmp_path / "uv", "numpy_in_the_folder_of_uv", module="numpy")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{tmp_path}/missing {tmp_path}/pip")
    monkeypatch.setenv("UV_FIND_LINKS", f"{tmp_path}/uv")
    for name in ("numpy-in-the-folder-of-pip==1.0", "numpy-in-the-folder-of-uv==1.0"):
        assert environments.create(EnvironmentSpec.parse(name)).packages == (name,)


@pytest.mark.usefixtures("shared")
def test_an_environment_without_the_framework_is_refused() -> None:
    with pytest.raises(EnvironmentFailure, match="has numpy, but not jax"):
        interpreters.interpreter(EnvironmentSpec.parse("numpy==1.26.4"), framework="jax")


def test_a_python_of_the_users_own_is_used_as_it_is() -> None:
    spec = EnvironmentSpec.parse(f"python={sys.executable}")
    assert interpreters.interpreter(spec, framework="null") == Path(sys.executable)
    folder = EnvironmentSpec.parse(f"python={Path(sys.executable).parents[1]}")
    assert interpreters.interpreter(folder, framework="null").samefile(sys.executable)


def test_a_python_without_the_framework_says_what_it_has(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "own")], check=True, timeout=DEADLINE)
    with pytest.raises(EnvironmentFailure, match=r"has no numpy \(Python 3.*it has no framework\)"):
        interpreters.interpreter(EnvironmentSpec.parse(f"python={tmp_path}/own/bin/python"), framework="numpy")


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("exit 3", "is not a working Python"),
        ("echo hello", "is not a working Python"),
        (
            'echo noise; echo \'{"version": [3, 8, 1], "modules": []}\'',
            r"is Python 3\.8\.1, and a worker needs 3\.10",
        ),
    ],
)
def test_a_program_that_is_no_python_for_a_worker_is_refused(tmp_path: Path, script: str, complaint: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.raises(InputError, match=complaint):
        interpreters.interpreter(EnvironmentSpec.parse(f"python={program}"), framework="null")


def test_the_commands_build_list_name_and_remove(tmp_path: Path) -> None:
    wheel = _make_wheel(tmp_path, "numpy", module="numpy")
    text = f"numpy @ file://{wheel}"
    runner = CliRunner()
    created = runner.invoke(app, ["create", text])
    assert (created.exit_code, created.stdout) == (0, "")
    assert "built in" in created.stderr
    python = runner.invoke(app, ["python", text])
    assert (python.exit_code, python.stderr) == (0, "")
    assert Path(python.stdout.strip()).exists()
    listed = runner.invoke(app, ["list"], env={"COLUMNS": "9999"}).stdout
    assert text in listed
    assert "not built" in listed
    removed = runner.invoke(app, ["remove", text])
    assert removed.stderr.startswith("removed numpy-")
    assert not Path(python.stdout.strip()).exists()


def test_removing_asks_for_one_name_or_for_all() -> None:
    runner = CliRunner()
    assert isinstance(runner.invoke(app, ["remove"]).exception, InputError)
    assert isinstance(runner.invoke(app, ["remove", "numpy", "--all"]).exception, InputError)
    assert runner.invoke(app, ["remove", "--all"]).stderr == "nothing to remove\n"


def test_the_mark_is_json_that_says_how_the_environment_came_about(tmp_path: Path, cache: Path) -> None:
    wheel = _make_wheel(tmp_path, "numpy", module="numpy")
    built = environments.create(EnvironmentSpec.parse(f"numpy @ file://{wheel}"))
    said = json.loads((cache / "environments" / built.name / "ready.json").read_text())
    assert said["requirements"] == [f"numpy @ file://{wheel}"]
    assert said["uv"][0].isdecimal()
    assert said["python"].startswith("3.")
    assert (cache / "environments" / built.name / said["executable"]).exists()
