"""What page faults say: of sides in another mode, and of an allocator that is left alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import invoke

TWO_MODES = '''"""A function that maps memory for its result where a variable says so."""
import mmap, os
import numpy as np
kept = np.empty(65536, "float32")
slow = os.environ.get("SLOW") == "1"

def add_one(values):
    """Add one."""
    np.add(values, 1, out=np.frombuffer(mmap.mmap(-1, kept.nbytes), "float32") if slow else kept)
'''
#: The smallest block that is mapped, in KiB: above 128 once a larger one was freed (mallopt(3), mallinfo(3)).
PROBE = """import ctypes


class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks a b c d e f".split()]


libc = ctypes.CDLL(None)
libc.mallinfo2.restype, libc.malloc.restype, libc.malloc.argtypes = Info, ctypes.c_void_p, [ctypes.c_size_t]


def least_mapped():
    for size in range(129, 4096):
        before = libc.mallinfo2().hblks
        libc.malloc(size << 10)  # and never freed, which would move the thresholds
        if libc.mallinfo2().hblks > before:
            return size


def probe(x):
    raise RuntimeError(f"{least_mapped()} KiB")
"""


def _opperf(*words: str) -> Any:
    return json.loads(invoke(*words, "--no-check", "--format", "json").out)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("few_rounds")
def test_sides_of_one_code_that_differ_in_page_faults_get_no_certain_verdict(tmp_path: Path) -> None:
    (tmp_path / "modes.py").write_text(TWO_MODES)
    words = ("compare", "modes.py:add_one", "--input", "values=65536", "--pairs", "3", "--base", "numpy;env.SLOW=1")
    (said,) = _opperf(*words, "--new", "numpy;env.SLOW=0")["comparisons"]
    assert said["verdict"] == "inconclusive"
    assert said["interval"] is None
    assert said["reason"].startswith("the page faults of a call differ (base 64, new 0)")
    assert set(said["base_faults"]) == {64.0}


@pytest.mark.parametrize("elements", [100_000, 2_000_000])
def test_an_allocator_that_is_left_alone_is_that_of_a_process_of_the_user(elements: int, tmp_path: Path) -> None:
    """Which page faults a chain of temporaries takes depends on it, and on what lies behind them in any process.

    What was compiled or read before the first call may have freed a block that is a little larger than any of NumPy's.
    """
    (tmp_path / "mapped.py").write_text(PROBE)
    words = ("run", "mapped.py:probe", "--framework", "numpy", "--input", f"x={elements}", "--direction", "forward")
    left_alone, fixed = (
        _opperf(*words, "--allocator", allocator)["records"][0]["reason"]["message"].removesuffix(" KiB")
        for allocator in ("default", "fixed")
    )
    command = [sys.executable, "-c", "import numpy, mapped; print(mapped.least_mapped())"]
    plain = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert fixed == "None"
    assert 0.6 < int(left_alone) / int(plain) < 1.6
