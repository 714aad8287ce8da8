"""What PyTorch's own counter costs: its call, and no compiler."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

SCRIPT = Path(__file__).with_name("counted_torch.py")


def test_an_eager_operator_is_counted_and_measured_without_importing_what_compiles() -> None:
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    environment = {**os.environ, "PYTHONPATH": str(package_folder())}
    done = subprocess.run(
        [str(python), str(SCRIPT)], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert json.loads(done.stdout) == {"flops": 2 * 8 * 16 * 4, "compiler": []}
