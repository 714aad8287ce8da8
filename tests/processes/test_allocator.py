"""What page faults say: of sides in another mode, and of an allocator that is left alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TWO_MODES = '''"""A function that maps memory for its result where a variable says so."""
import mmap, os
import numpy as np
kept = np.empty(65536, "float32")
slow = os.environ.get("SLOW") == "1"

def add_one(values):
    """Add one."""
    np.add(values, 1, out=np.frombuffer(mmap.mmap(-1, kept.nbytes), "float32") if slow else kept)
'''
CHAIN = '''def chain(x):
    """Make and drop temporaries."""
    a = x * 2.0
    b = x + 1.0
    c = a * b
    d = c - x
    return (d * a + b * c).sum()
'''
#: The page faults of a call in a process that does nothing else, its thresholds those of a user's.
PLAIN = """
import resource, sys
import numpy as np
from chain import chain
x = np.random.default_rng(0).random(int(sys.argv[1]), dtype="float32")
for _ in range(20):
    chain(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    chain(x)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 10)
"""


def _opperf(folder: Path, *words: str) -> Any:
    command = [sys.executable, "-m", "opperf", *words, "--no-check", "--format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout)


def test_sides_of_one_code_that_differ_in_page_faults_get_no_certain_verdict(tmp_path: Path) -> None:
    (tmp_path / "modes.py").write_text(TWO_MODES)
    words = ("compare", "modes.py:add_one", "--input", "values=65536", "--base", "numpy;env.SLOW=1")
    (said,) = _opperf(tmp_path, *words, "--new", "numpy;env.SLOW=0")["comparisons"]
    assert said["verdict"] == "inconclusive"
    assert said["interval"] is None
    assert said["reason"].startswith("the page faults of a call differ (base 64, new 0)")
    assert set(said["base_faults"]) == {64.0}


@pytest.mark.parametrize("elements", [100_000, 2_000_000])
def test_an_allocator_that_is_left_alone_faults_as_in_a_process_of_the_user(elements: int, tmp_path: Path) -> None:
    (tmp_path / "chain.py").write_text(CHAIN)
    words = ("run", "chain.py:chain", "--framework", "numpy", "--input", f"x={elements}", "--allocator", "default")
    samples = _opperf(tmp_path, *words)["records"][0]["samples"]["time"][0]
    faults = float(np.median(np.divide(samples["faults"], samples["calls"])))
    command = [sys.executable, "-c", PLAIN, str(elements)]
    plain = float(subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout)
    assert plain > 100
    assert faults == pytest.approx(plain, rel=0.02)
