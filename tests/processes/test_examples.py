"""Every example runs, in a folder of its own, and says something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest
from tests.processes.test_framework_examples import IN_ENVIRONMENTS

EXAMPLES = sorted(
    path for path in (Path(__file__).resolve().parents[2] / "examples").iterdir() if path.suffix in (".py", ".sh")
)
#: Scripts of a framework's user, one whose records are measured again, and one whose nodes are: they run with others,
#: in the environments of their frameworks or on those nodes.
ELSEWHERE = {*IN_ENVIRONMENTS, "record_trace.py", "fleet.py"}
#: More scripts like the first, each of which would start a Python and import NumPy in every child.
ALIKE = ("cold_cache.py", "failures.py", "intervals.py", "own_shapes.py", "several_environments.py")


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.usefixtures("forked_children")
def test_another_example_of_the_library_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    run_path(str(EXAMPLES[0].with_name(name)), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    "example", [pytest.param(path, id=path.name) for path in EXAMPLES if path.name not in {*ELSEWHERE, *ALIKE}]
)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    program = sys.executable if example.suffix == ".py" else "bash"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [program, str(example)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


def test_every_example_says_what_it_is_for() -> None:
    for example in EXAMPLES:
        first = example.read_text(encoding="utf-8").splitlines()[:2]
        assert first[0].startswith('"""') or first[1].startswith("# "), example.name
