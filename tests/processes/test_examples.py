"""Every example runs, in a folder of its own, and says something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

EXAMPLES = sorted(
    path for path in (Path(__file__).resolve().parents[2] / "examples").iterdir() if path.suffix in (".py", ".sh")
)
#: Scripts of a framework's user, which run in its environment.
IN_ENVIRONMENTS = {
    "asynchronous_jax.py": "jax",
    "asynchronous_mxnet.py": "mxnet",
    "profile_block.py": "torch",
}
#: It runs where what it records is measured again, in `test_replay.py`.
RECORDER = "record_trace.py"


def python_of(example: Path) -> Path:
    """Return the interpreter that an example is written for."""
    framework = IN_ENVIRONMENTS.get(example.name)
    if framework is None:
        return Path(sys.executable)
    return interpreter(choose_environment(EnvironmentSpec.parse("current"), framework), framework=framework)


@pytest.mark.parametrize("example", [pytest.param(path, id=path.name) for path in EXAMPLES if path.name != RECORDER])
def test_example_runs(example: Path, tmp_path: Path) -> None:
    program = [str(python_of(example))] if example.suffix == ".py" else ["bash"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {"PYTHONPATH": str(package_folder())} if example.name in IN_ENVIRONMENTS else {}
    done = subprocess.run(
        [*program, str(example)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, **variables},
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
