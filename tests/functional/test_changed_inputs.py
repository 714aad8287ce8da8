"""Every call is timed on the inputs that were made for it, by every command; or the trial says why it is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import opperf as library

#: It writes into its input, and takes a tenth of 100 us for one that was written into.
OVERWRITING = ("null:overwriting", "--input", "x=2")
#: It writes in one call alone, long after the first.
LATE = "null:overwriting_late"


def test_a_run_times_each_call_on_inputs_as_they_were_made(opperf: Callable[..., Any]) -> None:
    (record,) = opperf("run", *OVERWRITING, "--direction", "forward", "--format", "json").records
    for metric in ("time", "latency"):
        assert record["metrics"][metric]["max"] == pytest.approx(100e-6, rel=1e-9)
    assert record["facts"]["mutates"] == "x: restored before each call"


@pytest.mark.parametrize("words", [("--cache", "cold"), ("--loop", "native"), ("--direction", "forward_backward")])
def test_however_calls_are_made(words: tuple[str, ...], opperf: Callable[..., Any]) -> None:
    (record,) = opperf("run", *OVERWRITING, *words, "--runs", "5", "--format", "json").records
    whole = 100e-6 if "forward_backward" not in words else 120e-6
    assert record["metrics"]["time"]["min"] == pytest.approx(whole, rel=1e-9)
    assert record["facts"]["mutates"] == "x: restored before each call"


def test_a_comparison_times_each_call_on_inputs_as_they_were_made() -> None:
    compared = library.compare("null:overwriting", base="null", new="null;slowdown=1.5", inputs={"x": "2"})
    assert compared[0].base_time == pytest.approx(100e-6, rel=1e-9)
    assert compared[0].verdict.ratio == pytest.approx(1.5)


def test_a_suite_times_each_call_on_inputs_as_they_were_made(opperf: Callable[..., Any], tmp_path: Path) -> None:
    case = {"operator": "null:overwriting", "inputs": {"x": {"shape": [2], "dtype": "float32"}}}
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"schema_version": 1, "cases": [{"case": case, "directions": ["forward"]}]}))
    (record,) = opperf("run", "--suite", suite, "--framework", "null", "--format", "json").records
    assert record["metrics"]["time"]["median"] == pytest.approx(100e-6, rel=1e-9)


def test_inputs_that_a_later_call_changes_are_no_result(opperf: Callable[..., Any]) -> None:
    done = opperf("run", LATE, "--input", "x=2", "--runs", "50", "--format", "json")
    (record,) = done.records
    assert (record["status"], record["reason"]["slug"]) == ("skipped", "mutates")
    assert "`x`" in record["reason"]["message"]
    assert record["reason"]["hint"] == 'declare that of your own function: `@opperf.operator(mutates=["x"])`'


def test_a_comparison_of_inputs_that_a_later_call_changes_has_no_verdict() -> None:
    compared = library.compare(LATE, base="null", new="null", inputs={"x": "2"})
    # Either side may be the one that is asked first, and both change it.
    assert compared[0].verdict.verdict in ("failed", "skipped")
    assert "some call changed `x`" in str(compared[0])
