"""What the benchmarks share works with the engine as it is: they themselves take too long to run as tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MEASURE = """
import json
import time
from known import extension, measure
from opperf.domain.plan import Settings
spin = extension()
before = time.perf_counter()
measurement = measure(spin.spin, 100_000, 0, settings=Settings(warmup=1, runs=3))
print(json.dumps([measurement.time.seconds(clean_only=False), time.perf_counter() - before]))
"""


def test_an_operator_of_known_duration_is_measured() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURE], cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seconds, elapsed = json.loads(done.stdout)
    assert min(seconds) >= 100e-6
    assert sum(seconds) <= elapsed
