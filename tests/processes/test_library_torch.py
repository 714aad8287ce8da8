"""The library with frameworks: a comparison of two, and a program that is profiled and captured."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

import opperf

STEP = """
def step():
    import torch
    ones = torch.ones(32, 32)
    for _ in range(3):
        (ones @ ones).relu()
"""

pytestmark = pytest.mark.usefixtures("forked_children", "few_rounds")


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module with a function that calls operators of PyTorch."""
    (tmp_path / "steps.py").write_text(STEP)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "steps", raising=False)
    return importlib.import_module("steps")


def test_numpy_and_pytorch_are_compared() -> None:
    (result,) = opperf.compare("softmax", base="numpy", new="torch", size="small", pairs=3, tolerance="100000%")
    assert (result.status, result.base.framework, result.new.framework) == ("ok", "numpy", "torch")
    assert result.verdict.ratio is not None
    assert 0.01 < result.verdict.ratio < 100


def test_a_function_is_profiled_and_its_operators_are_a_suite_that_is_measured(
    steps: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    profile = opperf.profile(steps.step, framework="torch", output="profiled", save_suite="suite.json")
    assert {row.name: row.calls for row in profile}["aten::mm"] == 3
    assert profile.exit_code == 0
    assert [file.suffix for file in profile.files] == [".json"]
    assert capfd.readouterr().out == ""
    again = opperf.load(profile.files[0])
    assert isinstance(again, opperf.Profile)
    assert [row.name for row in again] == [row.name for row in profile]
    assert len(again.to_pandas()) == len(again)
    assert "<table" in again._repr_html_()

    suite = opperf.load("suite.json")
    assert isinstance(suite, opperf.Suite)
    counts = {entry.case.operator: entry.count for entry in suite}
    # What is recorded is the call of the program; autograd and dispatch make `mm` of it, which the profile sees.
    assert counts["torch:aten::matmul.default"] == counts["torch:aten::relu.default"] == 3
    assert {record.status for record in opperf.run(suite=suite, framework="torch", runs=3, skip="*ones*")} == {"ok"}


def test_a_function_is_captured_and_its_operators_are_measured(steps: ModuleType) -> None:
    suite = opperf.capture(steps.step, framework="torch")
    counts = {entry.case.operator: entry.count for entry in suite}
    assert counts["torch:aten::mm.default"] == counts["torch:aten::relu.default"] == 3
    results = opperf.run(suite=suite, framework="torch", runs=3, skip="*ones*")
    assert {record.status for record in results} == {"ok"}
