"""An asv suite in environments that know nothing of asv: its library lies beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.functional.conftest import invoke

pytestmark = pytest.mark.usefixtures("forked_children", "few_rounds")
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


def opperf(*words: str) -> str:
    """Run a command that ends well, and return its data."""
    done = invoke(*words)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a suite."""
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "bench.py").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_releases_are_compared_and_kept(folder: Path) -> None:
    base, new = ENVIRONMENTS
    words = ("--base", base, "--new", new, "--pairs", "3", "--trial-budget", "0.05")
    kept = ("--html", "page.html", "--database", "kept.db", "--format", "json")
    document = json.loads(opperf("compare", "asv:benchmarks", *words, *kept))
    (small, large) = document["comparisons"]
    assert (small["case"]["operator"], small["case"]["attributes"]) == ("bench.Sort.time_sort", {"param1": 100})
    assert [one["environment"] for one in (small["base"], small["new"])] == [base, new]
    assert {one["verdict"] for one in (small, large)} <= {"slower", "faster", "same", "inconclusive"}
    assert "bench.Sort.time_sort" in (folder / "page.html").read_text()
    assert "bench.Sort.time_sort" in opperf("history", "operators", "*", "--database", "kept.db")


@pytest.mark.usefixtures("folder")
def test_a_gate_judges_a_suite_by_expectations() -> None:
    words = ("asv:benchmarks", "--environment", ENVIRONMENTS[1], "--expected", "expected.json", "--select", "1000")
    opperf("gate", *words, "--update-expected", "--processes", "3")
    opperf("gate", *words, "--processes", "3", "--threshold", "900%")
