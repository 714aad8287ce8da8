"""A cold cache of a CUDA device: memory of twice its size is written, on what stands for the device."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

SCRIPT = Path(__file__).with_name("swept_torch.py")


def test_twice_the_devices_cache_is_written_at_each_sweep_where_its_size_is_told() -> None:
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    environment = {**os.environ, "PYTHONPATH": str(package_folder())}
    done = subprocess.run(
        [str(python), str(SCRIPT)], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert json.loads(done.stdout) == {
        "bytes": 6 << 20,
        "written": True,
        "untold": [None, None],
        "on a CPU": None,
    }
