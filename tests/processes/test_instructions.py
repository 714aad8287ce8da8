"""Instructions of real frameworks, counted under Valgrind: the same in every process, and more where there is more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    not (shutil.which("valgrind") and shutil.which("cc")), reason="there is no Valgrind, or no C compiler, here"
)


def opperf(cache: Path, *words: str) -> dict[str, Any]:
    """Return the document of a command that counts instructions."""
    done = subprocess.run(
        [sys.executable, "-m", "opperf", *words, "--clock", "instructions", "--format", "json"],
        env=os.environ | {"OPPERF_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_two_runs_count_the_same_and_say_with_which_vectors(one_cache: Path) -> None:
    words = ("run", "add", "exp", "--framework", "numpy", "--size", "small", "--runs", "5", "--direction", "forward")
    first, second = (opperf(one_cache, *words)["records"] for _ in range(2))
    for one, other in zip(first, second, strict=True):
        counts = [record["metrics"]["instructions"]["value"] for record in (one, other)]
        assert counts[0] > 1000
        assert counts[0] == pytest.approx(counts[1], rel=1e-3)
        assert one["facts"]["instructions"]["instruction_set"] in ("avx2", "avx", "sse2", "neon")
        assert one["facts"]["instructions"]["timed_instruction_set"] != "avx512"
