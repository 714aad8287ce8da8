"""Scripts in the environment of a framework, by its own Python."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

#: How long a script may take on a busy machine, in seconds.
LIMIT = 600


def printed(framework: str, *words: object, folder: Path | None = None, **variables: str) -> str:
    """Run a script with opperf's package and no more beside the framework, to an end that must be good."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), framework), framework=framework)
    done = subprocess.run(
        [str(python), *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(package_folder()), **variables},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout
