"""Comparing by any metric that is declared: live, in a gate and in a search, on the null framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import invoke
from tests.functional.test_bisect import Slowdowns, only

from opperf.domain.plan import Settings, Side
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.bisect.bisect import Order, Search
from opperf.parent.measuring.progress import Silent
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.options import Bisecting

SAME = ("--base", "null;power=65", "--new", "null;power=65")
MORE = ("--base", "null;power=65", "--new", "null;power=70")


def document(*words: str) -> dict[str, Any]:
    """Return the only comparison."""
    done = invoke("compare", *words, "--pairs", "5", "--format", "json")
    assert done.code == 0, done.err
    (result,) = json.loads(done.out)["comparisons"]
    return dict(result)


def test_energy_is_held_against_energy_and_shown_in_joules() -> None:
    result = document("null:steady", *MORE, "--metric", "energy")
    assert (result["verdict"], result["metric"], result["base_time"]) == ("slower", "energy", None)
    assert (result["base_value"], result["new_value"]) == (pytest.approx(6.5e-3), pytest.approx(7e-3))
    assert result["ratio"] == pytest.approx(70 / 65)
    done = invoke("compare", "null:steady", *MORE, "--metric", "energy")
    assert all(words in done.out for words in ("more energy", "6.50 mJ", "7.00 mJ", "ratio: of the energy"))


def test_no_interval_is_narrower_than_the_readings_tell() -> None:
    low, high = document("null:steady", *SAME, "--metric", "energy")["interval"]
    assert low < 0.998 < 1.002 < high


def test_a_machine_without_a_counter_ends_in_one_message() -> None:
    done = invoke("compare", "null:steady", "--base", "null", "--new", "null", "--metric", "energy")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("error: `--metric energy`: there is no energy counter here\n\nhint: `null;power=65`\n")


@pytest.mark.parametrize(
    ("metric", "verdict"), [("latency", "slower"), ("memory", "same"), ("memory_allocated", "same")]
)
def test_other_metrics_decide_as_they_are_declared(metric: str, verdict: str) -> None:
    result = document("add", "--size", "small", "--base", "null", "--new", "null;slowdown=1.5", "--metric", metric)
    assert (result["verdict"], result["metric"]) == (verdict, "memory_peak" if metric == "memory" else metric)
    assert result["pairs"] == (5 if metric == "latency" else 3)


def test_instructions_are_a_metric_as_they_are_a_clock() -> None:
    result = document("null:steady", "--base", "null", "--new", "null;work=1.01", "--metric", "instructions")
    assert (result["verdict"], result["metric"], result["clock"]) == ("slower", "instructions", "instructions")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "joules"), "`--metric` is `joules`, expected time, "),
        (("--metric", "flops"), "`--metric` is `flops`, which sides are not compared by"),
        (("--metric", "memory", "--clock", "instructions"), "is not measured by `--clock instructions`"),
        (("--metric", "energy", "--jobs", "2"), "needs the machine for itself"),
        (("--metric", "compile_time"), "needs processes that compile for themselves"),
    ],
)
def test_what_nothing_can_be_compared_by_is_one_message(words: tuple[str, ...], message: str) -> None:
    done = invoke("compare", "null:steady", "--base", "null", "--new", "null", *words)
    assert (done.code, message in done.err) == (2, True), done.err


def test_result_files_are_compared_by_the_time_alone() -> None:
    Path("old.json").write_text("{}")
    done = invoke("compare", "old.json", "old.json", "--metric", "energy")
    assert (done.code, "`--metric energy` has nothing to measure" in done.err) == (2, True), done.err


def test_what_compiles_is_compared_where_each_process_compiles() -> None:
    words = ("null:steady", "--base", "null", "--new", "null", "--metric", "compile_time", "--compile-cache", "none")
    done = invoke("compare", *words)
    assert (done.code, "`compile_time` is not measured here" in done.out) == (0, True), done.err


def test_a_side_without_the_metric_is_skipped_with_the_reason() -> None:
    done = invoke("compare", "null:steady", "--base", "null", "--new", "null", "--metric", "device", "--format", "json")
    (result,) = json.loads(done.out)["comparisons"]
    assert (done.code, result["verdict"]) == (0, "skipped")
    assert "`device` is not measured here" in result["reason"]


def test_that_a_processor_has_no_counter_is_said_before_a_pair_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opperf.domain.rapl.POWERCAP", tmp_path)
    done = invoke("compare", "add", "--base", "numpy", "--new", "numpy", "--metric", "energy")
    assert (done.code, done.out) == (2, "")
    assert "error: `--metric energy`: there is no energy counter of a CPU here" in done.err
    assert "pair 1" not in done.err


def test_a_gate_stops_what_takes_more_energy() -> None:
    Path("opperf.toml").write_text('operators = ["null:steady"]\nbase = "null;power=65"\nmetric = "energy"\n')
    more = invoke("gate", "--new", "null;power=70")
    assert more.code == 1
    assert "1.077 times the base's energy" in more.out
    assert invoke("gate", "--new", "null;power=65;slowdown=1.01").code == 0
    assert invoke("gate", "--new", "null;power=70", "--metric", "time").code == 0


def bisection(setting: str, factors: list[float], operator: str, metric: str) -> str:
    """Return what a search by a metric says."""
    builds = Slowdowns(factors, setting=setting)
    selection = Selection(operators=(operator,), directions=("forward",), sizes=("small",))
    order, settings = Order(Bisecting("v0", builds.names[-1])), Settings(metric=metric)
    searching = Search(selection, builds, Side("null"), order, Rule(pairs=3), settings, Silent())
    searching.plan()
    searching.run()
    return only(searching.document()).reason


def test_the_build_that_takes_more_energy_is_named() -> None:
    reason = bisection("power", [65, 70], "null:steady", "energy")
    assert reason == "v1 takes 7.7% more energy than v0"


def test_builds_that_take_the_same_memory_are_the_same_whatever_their_time() -> None:
    assert "within" in bisection("slowdown", [1, 2], "add", "memory_peak")


def test_a_history_tells_comparisons_by_energy_from_those_by_the_time() -> None:
    for metric in ("energy", "time"):
        words = ("null:steady", *MORE, "--metric", metric, "--pairs", "5", "--database", "kept.db")
        assert invoke("compare", *words).code == 0
    done = invoke("history", "show", "null:steady", "--database", "kept.db", "--format", "csv")
    assert done.code == 0, done.err
    rows = [line.split(",") for line in done.out.splitlines() if "slower" in line or "same" in line]
    assert [("energy" in row, "slower" in row) for row in rows] == [(True, True), (False, False)]
