"""Kernels of calls by PyTorch's own profiler: a real trace, in which what a GPU does is put by hand."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

SCRIPT = Path(__file__).with_name("kernels_torch.py")


def test_each_call_in_a_trace_of_pytorch_has_its_kernels_and_a_trace_without_any_is_refused() -> None:
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    environment = {**os.environ, "PYTHONPATH": str(package_folder())}
    done = subprocess.run(
        [str(python), str(SCRIPT)], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert json.loads(done.stdout) == {"a CPU alone": "no_kernels_seen", "busy": [2000] * 3, "long": True}
