"""Every example runs, in a folder of its own, and says something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes.test_framework_examples import IN_ENVIRONMENTS

EXAMPLES = sorted(
    path for path in (Path(__file__).resolve().parents[2] / "examples").iterdir() if path.suffix in (".py", ".sh")
)
#: Scripts of a framework's user, and one whose records are measured again: they run in its environment, with others.
ELSEWHERE = {*IN_ENVIRONMENTS, "record_trace.py"}


@pytest.mark.parametrize(
    "example", [pytest.param(path, id=path.name) for path in EXAMPLES if path.name not in ELSEWHERE]
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
