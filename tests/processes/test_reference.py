"""An implementation that computes something else is failed, not timed; the reference is a real child of NumPy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, TypeAlias

import pytest

Command: TypeAlias = Callable[..., CompletedProcess[str]]

#: Breaks a function of NumPy in every child but the reference, whose command line says what it is.
BROKEN = """
import sys
if "opperf.child" in sys.orig_argv and "reference" not in "".join(sys.orig_argv[2:]):
    import numpy
    numpy.exp = numpy.expm1
"""
QUICK = ("--framework", "numpy", "--direction", "forward", "--runs", "3", "--format", "json")


@pytest.fixture
def broken(tmp_path: Path) -> str:
    """A folder from which Python breaks NumPy as it starts."""
    (tmp_path / "sitecustomize.py").write_text(BROKEN)
    return str(tmp_path)


def facts(record: dict[str, Any]) -> Any:
    return record["facts"]["checked"]


def test_a_wrong_implementation_is_failed_and_not_timed(command: Command, broken: str) -> None:
    done = command("run", "exp", "expm1", "dropout", *QUICK, PYTHONPATH=broken)
    wrong, right, random = json.loads(done.stdout)["records"]
    assert (wrong["status"], wrong["reason"]["slug"], wrong["metrics"]) == ("failed", "wrong_result", {})
    assert "by NumPy " in wrong["reason"]["message"]
    assert " (within " in wrong["reason"]["message"]
    assert "--no-check" in wrong["reason"]["hint"]
    assert right["status"] == random["status"] == "ok"
    assert facts(right).startswith("against NumPy ")
    assert facts(random) == "no: its results are random"


def test_a_wrong_implementation_is_timed_when_nobody_wants_it_checked(command: Command, broken: str) -> None:
    done = command("run", "exp", "--no-check", *QUICK, PYTHONPATH=broken)
    (record,) = json.loads(done.stdout)["records"]
    assert record["status"] == "ok"
    assert "checked" not in record["facts"]


def test_a_wrong_side_is_not_compared(command: Command, broken: str) -> None:
    sides = ("--base", "numpy", "--new", "numpy;env.OPPERF_TEST=1", "--size", "small")
    done = command("compare", "exp", *sides, "--format", "json", PYTHONPATH=broken)
    (comparison,) = json.loads(done.stdout)["comparisons"]
    assert comparison["status"] == "failed"
    assert "by NumPy " in comparison["reason"]


def test_a_broken_numpy_leaves_the_run_unchecked_and_says_so_once(command: Command, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        'import sys\nif "reference" in "".join(sys.orig_argv[2:]): sys.modules["scipy"] = None\n'
    )
    done = command("run", "exp", "sin", *QUICK, PYTHONPATH=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("results are not checked: the reference does not start") == 1
    assert [facts(record)[:35] for record in json.loads(done.stdout)["records"]] == [
        "no: the reference does not start: i"
    ] * 2
