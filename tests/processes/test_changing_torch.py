"""PyTorch's operators that write into their arguments: no call of one gets what another has left."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

SCRIPT = Path(__file__).with_name("changing_torch.py")
#: Of 1,435 overloads that PyTorch 2.13 says to write into a tensor; the others are internal, or find no arguments.
CALLED = 950


def test_every_call_of_an_overload_that_writes_gets_its_inputs_as_they_were_made() -> None:
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    environment = {**os.environ, "PYTHONPATH": str(package_folder())}
    done = subprocess.run([str(python), str(SCRIPT)], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert (report["unmarked"], report["wrong"]) == ([], [])
    assert report["called"] >= CALLED, report
