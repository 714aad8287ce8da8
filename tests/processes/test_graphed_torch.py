"""Modes of PyTorch: CUDA graphs, on what stands in for a device's; and that eager mode goes without the compiler."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

SCRIPT = Path(__file__).with_name("graphed_torch.py")


def test_a_backend_of_pytorch_starts_without_the_compiler() -> None:
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    script = "import sys, opperf.child.backends.torch.runtime; print('torch._dynamo' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(package_folder())}
    done = subprocess.run([str(python), "-c", script], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "False\n", done.stderr


def test_a_replay_computes_on_what_its_inputs_are_now_and_what_cannot_be_captured_says_why() -> None:
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    environment = {**os.environ, "PYTHONPATH": str(package_folder())}
    done = subprocess.run([str(python), str(SCRIPT)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "on a CPU": "no_device",
        "forward follows its input": True,
        "one launch": True,
        "memory": None,
        "backward": True,
        "a fresh forward": "no_graph",
        "reads a value": "CUDA cannot capture it: CUDA error: operation not permitted when stream is capturing",
        "calls": 3,
        "a recurrent layer": [True, 1, 0.0, True, False, False],
    }
