"""An asv suite in environments that know nothing of asv: its library lies beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SUITE = """
import numpy as np

class Sort:
    params = [100, 1000]

    def setup(self, n):
        self.x = np.arange(n)[::-1].copy()

    def time_sort(self, n):
        self.x.sort()
"""
ENVIRONMENTS = ("numpy==2.2.6", "numpy==2.4.6")


def opperf(folder: Path, *words: str) -> str:
    """Run a command that ends well, and return its data."""
    command = [sys.executable, "-m", "opperf", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite, whose environments are built."""
    folder = tmp_path_factory.mktemp("asv")
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "bench.py").write_text(SUITE)
    return folder


def test_two_releases_are_compared_and_kept(folder: Path) -> None:
    base, new = ENVIRONMENTS
    words = ("--base", base, "--new", new, "--pairs", "3", "--trial-budget", "0.05")
    kept = ("--html", "page.html", "--database", "kept.db", "--format", "json")
    document = json.loads(opperf(folder, "compare", "asv:benchmarks", *words, *kept))
    (small, large) = document["comparisons"]
    assert (small["case"]["operator"], small["case"]["attributes"]) == ("bench.Sort.time_sort", {"param1": 100})
    assert [one["environment"] for one in (small["base"], small["new"])] == [base, new]
    assert {one["verdict"] for one in (small, large)} <= {"slower", "faster", "same", "inconclusive"}
    assert "bench.Sort.time_sort" in (folder / "page.html").read_text()
    assert "bench.Sort.time_sort" in opperf(folder, "history", "operators", "*", "--database", "kept.db")


def test_a_gate_judges_a_suite_by_expectations(folder: Path) -> None:
    words = ("asv:benchmarks", "--environment", ENVIRONMENTS[1], "--expected", "expected.json", "--select", "1000")
    opperf(folder, "gate", *words, "--update-expected", "--processes", "3")
    opperf(folder, "gate", *words, "--processes", "3", "--threshold", "900%")
