"""`opperf bisect` over real releases of NumPy, and over the commits of a repository with a C extension."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from tests.functional.conftest import invoke
from uv import find_uv_bin

from opperf.parent.workers.installer import find_links

#: A C extension that turns a loop so many times.
EXTENSION = """
#include <Python.h>
static PyObject *work(PyObject *self, PyObject *given)
{{
    volatile long sum = 0;
    for (long i = 0; i < {turns}; i++) sum += i;
    return PyLong_FromLong(sum);
}}
static PyMethodDef methods[] = {{{{"work", work, METH_O, ""}}, {{NULL}}}};
static struct PyModuleDef module = {{PyModuleDef_HEAD_INIT, "turning", NULL, -1, methods}};
PyMODINIT_FUNC PyInit_turning(void) {{ return PyModule_Create(&module); }}
"""
#: Changes by three times need few pairs, however busy the machine is.
FEW = ("--pairs", "3", "--tolerance", "50%")
COMMITS, SLOWER, UNBUILDABLE, SAME = 12, 8, (3, 5, 10), range(1, 11, 3)


pytestmark = pytest.mark.usefixtures("forked_children", "few_rounds")


def git(repository: Path, *words: str) -> str:
    """Run git without the user's own settings."""
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", repository, *settings, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def commits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository whose extension is three times slower from one commit on; some change a comment alone."""
    folder = tmp_path_factory.mktemp("commits")
    git(folder, "init", "--quiet", "--initial-branch=main")
    for commit in range(COMMITS):
        turns = 30_000 if commit >= SLOWER else 10_000
        text = EXTENSION.format(turns=turns)
        if commit in UNBUILDABLE:
            text = "this is no C\n" + text
        unlike = "" if commit in SAME else f"static int unlike_{commit} __attribute__((used)) = {commit};\n"
        (folder / "turning.c").write_text(text + unlike)
        (folder / "README").write_text(f"commit {commit}\n")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", f"commit {commit}")
    git(folder, "tag", "v1", f"HEAD~{COMMITS - 1}")
    return folder


@pytest.fixture
def repository(commits: Path, tmp_path: Path) -> Path:
    """A copy of the repository, of which a search that is stopped may leave a worktree."""
    return shutil.copytree(commits, tmp_path / "ext")


def test_the_commit_that_made_an_extension_slower_is_named(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_ext.py").write_text("import turning\n\ndef f(x):\n    turning.work(x)\n    return x\n")
    include = sysconfig.get_paths()["include"]
    packages = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    build = f'gcc -O1 -shared -fPIC -I{include} turning.c -o "$(python -c "{packages}")/turning.so"'
    words = ["--framework", "numpy", "--input", "x=1", "--repo", repository, "--good", "v1", "--bad", "main"]
    done = invoke("bisect", "my_ext.py:f", *words, "--build", build, *FEW, "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)["bisection"]
    (answer,) = document["answers"]
    (step,) = answer["steps"]
    subject = git(repository, "log", "-1", "--format=%s", step["after"])
    assert subject == f"commit {SLOWER}", answer["reason"]
    assert step["ratio"] == pytest.approx(3, rel=0.3)
    assert len(document["built"]) < COMMITS - 2
    assert git(repository, "worktree", "list").count("\n") == 0  # none is left


def test_releases_of_numpy_without_a_change_name_nobody() -> None:
    words = ["--framework", "numpy", "--good", "2.2.5", "--bad", "2.2.6", "--direction", "forward", "--size", "small"]
    done = invoke("bisect", "matmul", *words, "--format", "json", *FEW)
    assert done.code in (0, 4), done.err
    document = json.loads(done.out)["bisection"]
    assert document["builds"] == ["2.2.5", "2.2.6"]
    (answer,) = document["answers"]
    assert answer["kind"] in ("same", "inconclusive")  # by how busy the machine is
    assert answer["steps"] == []


def test_a_release_that_the_index_does_not_have_is_one_message() -> None:
    done = invoke("bisect", "sum", "--framework", "numpy", "--good", "2.2.5", "--bad", "99.0")
    assert done.code == 2
    assert "the package index has no numpy 99.0" in done.err


def wheel(folder: Path, name: str, version: str, text: str) -> None:
    """Make a wheel of one module."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", text)
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture
def environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two environments with the same NumPy: `busy` is three times slower from 2.0 on, and `idle` differs, too."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version in ("1.0", "1.1", "2.0", "2.1"):
        turns = 3000 if version >= "2" else 1000
        wheel(wheels, "busy", version, f"def work(x):\n    for _ in range({turns}):\n        pass\n    return x\n")
        wheel(wheels, "idle", version, "")
    links = f"{os.environ.get('PIP_FIND_LINKS', '')} {wheels}".strip()
    monkeypatch.setenv("PIP_FIND_LINKS", links)
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import busy\n\ndef f(x):\n    return busy.work(x)\n")
    folders = []
    for name, version in (("before", "1.0"), ("after", "2.1")):
        folder = tmp_path / name
        packages = [f"busy=={version}", f"idle=={version}", "numpy==2.2.6"]
        uv = [find_uv_bin(), "--quiet"]
        subprocess.run([*uv, "venv", folder], check=True)
        target: list[str] = ["--python", str(folder / "bin" / "python"), *find_links()]
        subprocess.run([*uv, "pip", "install", *target, *packages], check=True)
        folders.append(folder)
    return folders[0], folders[1]


def test_the_package_beside_the_framework_is_named_and_then_its_release(environments: tuple[Path, Path]) -> None:
    before, after = environments
    ends = ["--good", f"python={before}", "--bad", f"python={after}", "--framework", "numpy"]
    words = ["bisect", "mine.py:f", *ends, "--input", "x=1", *FEW, "--format", "json"]
    for more, name in (([], "busy 1.0 -> busy 2.1"), (["--package", "busy"], "busy 2.0")):
        done = invoke(*words, *more)
        assert done.code == 0, done.err
        (answer,) = json.loads(done.out)["bisection"]["answers"]
        (step,) = answer["steps"]
        assert step["after"] == name
        assert step["ratio"] > 1.5


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_the_most_likely_story_so_far(
    number: int, code: int, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    # A build is a line in a file: one is three times slower, and the search is stopped when it begins another build.
    (tmp_path / "mine.py").write_text("import turns\n\ndef f(x):\n    turns.work()\n    return x\n")
    turns = f"3000 if n >= {SLOWER} else 1000"
    module = f"n = int(open('README').read().split()[1]); print(f'def work(n={{{turns}}}):')"
    packages = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    build = f'target="$(python -c "{packages}")/turns.py"; python -c "{module}" > "$target"; '
    build += "echo '    for _ in range(n): pass' >> \"$target\"; cat turning.c | sed 's/^/# /' >> \"$target\""
    words = ["--framework", "numpy", "--input", "x=1", "--repo", repository, "--good", "v1", "--bad", "main"]
    output = tmp_path / "story.json"
    command = [
        sys.executable,
        "-m",
        "opperf",
        "bisect",
        "mine.py:f",
        *words,
        "--build",
        build,
        "--output",
        output,
        *FEW,
    ]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr)
        assert any("most likely so far" in line for line in lines)
        process.send_signal(number)
        rest = [*lines]
    assert process.returncode == code, "".join(rest)
    (answer,) = json.loads(output.read_text())["bisection"]["answers"]
    assert answer["kind"] == "inconclusive"
    assert "it was stopped before it was decided; most likely so far: a build after" in answer["reason"]
    assert answer["probes"]
