"""Scripts in an environment with MXNet alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder


def run(script: Path, folder: Path, *words: str, engine: str = "ThreadedEnginePerDevice") -> str:
    """Run a script by the Python of MXNet's environment, with opperf's package and no more; return what it printed."""
    spec = choose_environment(EnvironmentSpec.parse("current"), "mxnet")
    done = subprocess.run(
        [str(interpreter(spec, framework="mxnet")), "-W", "ignore", str(script), *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(package_folder()), "MXNET_ENGINE_TYPE": engine, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
