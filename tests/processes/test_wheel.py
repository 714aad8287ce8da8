"""The built wheel, in an environment with NumPy 2, measures an MXNet that dies of NumPy 2."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

import opperf
from opperf.parent.workers.installer import find_links, surroundings

#: Building MXNet's environment takes most of it, the first time. Seconds.
DEADLINE = 900.0

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def cache() -> None:
    """The cache of the user, or of CI: MXNet's environment is built once, not for each test."""


def _uv(*words: object) -> None:
    done = subprocess.run(
        [find_uv_bin(), *map(str, words)], capture_output=True, text=True, timeout=DEADLINE, env=surroundings()
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    _uv("build", "--wheel", "--python", sys.executable, *find_links(), "--out-dir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of this checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    _uv("build", "--sdist", "--python", sys.executable, *find_links(), "--out-dir", folder, ROOT)
    (built,) = folder.glob("*.tar.gz")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment that holds the wheel and NumPy 2."""
    folder = tmp_path_factory.mktemp("environment")
    _uv("venv", "--python", sys.executable, "--allow-existing", folder)
    _uv("pip", "install", "--python", folder / "bin/python", *find_links(), wheel, "numpy>=2")
    return folder


def test_the_description_has_the_words_of_the_readme_and_no_link_into_the_source(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        header, _, text = archive.read(name).decode().partition("\n\n")
    assert "Description-Content-Type: text/markdown" in header
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((?!https?:|#)", readme)
    assert re.findall(r"\]\((?!https?:|#)", text) == []
    assert re.findall(r"^#.*|^```.*", text, re.MULTILINE) == re.findall(r"^#.*|^```.*", readme, re.MULTILINE)


def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    files = (path for path in (source / "opperf").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    workloads = {
        f"opperf/parent/sources/workloads/{path.name}" for path in (ROOT / "examples" / "workloads").glob("*.json")
    }
    assert held == {path.relative_to(source).as_posix() for path in files} | workloads


def test_the_wheel_brings_its_license_its_types_and_its_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert wheel.name.startswith(f"opperf-{opperf.__version__}-")
    assert f"opperf-{opperf.__version__}.dist-info/licenses/LICENSE" in held
    assert "opperf/py.typed" in held
    assert any(name.endswith(".html") for name in held)


def test_the_source_distribution_holds_the_package_and_no_tests(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    beside = {name for name in held if not name.startswith(("src/opperf/", "examples/workloads/"))}
    assert beside == {
        ".gitignore",
        "CHANGELOG.md",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "hatch_build.py",
        "pyproject.toml",
    }


def test_the_version_is_written_once() -> None:
    files = [ROOT / "pyproject.toml", ROOT / "Makefile", ROOT / "docs" / "conf.py"]
    for folder, pattern in (("src", "*.py"), (".github", "*.yml")):
        files += (ROOT / folder).rglob(pattern)
    quoted = f'"{opperf.__version__}"'
    holders = [path.relative_to(ROOT).as_posix() for path in files if quoted in path.read_text(encoding="utf-8")]
    assert holders == ["src/opperf/__init__.py"]


def test_numpy_is_measured_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    side = ("--framework", "numpy", "--environment", f"python={installed / 'bin/python'}")
    words = ("run", "add", *side, "--direction", "forward", "--size", "small", "--runs", "3", "--format", "json")
    done = subprocess.run(
        [str(installed / "bin/opperf"), *words],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=kept,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert [record["status"] for record in json.loads(done.stdout)["records"]] == ["ok"]


def test_mxnet_is_measured_beside_numpy_2(installed: Path, tmp_path: Path) -> None:
    words = ("run", "add", "--framework", "mxnet", "--size", "small", "--runs", "3", "--format", "json")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(installed / "bin/opperf"), *words],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=kept,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [record["status"] for record in result["records"]] == ["ok", "ok"], result["records"]
    assert {record["facts"]["version"] for record in result["records"]} == {"1.9.1"}
    # That environment has no SciPy, so what results are checked against is built.
    assert {record["facts"]["checked"] for record in result["records"]} == {
        "against NumPy 2.4.6 and SciPy 1.17.1 in float64"
    }
    (child,) = result["run"]["environment"]["frameworks"]
    assert child["environment"] == "mxnet"
    assert tuple(map(int, child["numpy"].split(".")[:2])) < (1, 24)
    parent = [str(installed / "bin/python"), "-c", "import numpy; print(numpy.__version__)"]
    assert subprocess.run(parent, capture_output=True, text=True, timeout=300, env=kept).stdout.startswith("2.")
