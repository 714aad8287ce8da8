"""Tests of pytest-benchmark in environments that have no pytest: it lies beside them, and what a test has set holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.functional.conftest import invoke

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("folder", "forked_children", "few_rounds")]
TESTS = """
import numpy as np
import pytest

@pytest.mark.parametrize("n", [100, 1000])
def test_sort(benchmark, n):
    x = np.arange(n)[::-1].copy()
    assert benchmark(np.sort, x)[0] == 0

def test_wrong(benchmark):
    assert benchmark(np.sum, np.ones(10)) == 3
"""
STATES = """
import torch

def test_states(benchmark):
    weight = torch.ones(3, requires_grad=True)
    def product():
        result = weight * 2
        assert not result.requires_grad and result.dtype == torch.float32 and torch.zeros(1).dtype == torch.float64
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            benchmark(product)
    finally:
        torch.set_default_dtype(torch.float32)

def test_graph(benchmark):
    weight = torch.ones(3, requires_grad=True)
    assert benchmark(torch.mul, weight, 2).requires_grad
"""
ENVIRONMENTS = ("numpy==2.2.6", "numpy==2.4.6")


def opperf(*words: str) -> str:
    """Run a command that ends well, and return its data."""
    done = invoke(*words)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder, with tests, the settings of which are found there."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_sort.py").write_text(TESTS)
    (tmp_path / "test_states.py").write_text(STATES)
    monkeypatch.chdir(tmp_path)


def test_two_releases_are_compared() -> None:
    base, new = ENVIRONMENTS
    sides = ("--base", base, "--new", new)
    few = ("--pairs", "3", "--tolerance", "50%", "--trial-budget", "0.05", "--format", "json")
    document = json.loads(opperf("compare", "pytest:test_sort.py", *sides, *few))
    small, large, wrong = document["comparisons"]
    assert (small["case"]["operator"], small["case"]["attributes"]) == ("test_sort.py::test_sort", {"n": 100})
    assert [one["environment"] for one in (small["base"], small["new"])] == [base, new]
    assert {one["verdict"] for one in (small, large)} <= {"slower", "faster", "same", "inconclusive"}
    assert (wrong["verdict"], wrong["reason"]) == ("failed", "not measured: assert np.float64(10.0) == 3")


def test_what_a_test_has_set_of_a_framework_holds() -> None:
    words = ("--framework", "torch", "--runs", "3", "--format", "json")
    records = json.loads(opperf("run", "pytest:test_states.py", *words))["records"]
    assert [(record["status"], record["reason"]) for record in records] == [("ok", None)] * 2
