"""`--jobs`: trials side by side on real CPUs, and everything else as with one job."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import opperf as library
from opperf.parent.workers import canaries
from opperf.parent.workers.topology import leases, usable_cores

Opperf: TypeAlias = Callable[..., Any]

RUN = ("run", "add", "exp", "log", "--framework", "null", "--size", "small", "--runs", "3")

pytestmark = pytest.mark.skipif(len(leases(usable_cores(), 1)) < 2, reason="two physical cores are needed")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let canaries take one short turn: what they find is no matter here."""
    monkeypatch.setattr(canaries, "TURNS", 1)
    monkeypatch.setattr(canaries, "TURN_SECONDS", 0.001)


def _document(file: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path(file).read_text())
    return document


def _trials(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["case"]["operator"], one["direction"], one["status"]) for one in document["records"]]


def test_two_jobs_give_the_records_of_one_in_its_order_and_say_on_which_cpus(opperf: Opperf) -> None:
    assert opperf(*RUN, "--processes", "2", "--output", "one.json").code == 0
    done = opperf(*RUN, "--processes", "2", "--jobs", "2", "--output", "two.json")
    assert done.code == 0, done.err
    one, two = _document("one.json"), _document("two.json")
    assert _trials(one) == _trials(two)
    cpus = [record["facts"]["jobs"]["cpus"] for record in two["records"]]
    assert all(len(each) == 1 for each in cpus)
    assert {"cpus", "class", "beside"} == set(two["records"][0]["facts"]["jobs"])
    assert two["run"]["settings"]["jobs"] == 2
    assert [record["metrics"]["time"]["processes"] for record in two["records"]] == [2] * 6


def test_one_job_leaves_no_trace(opperf: Opperf) -> None:
    assert opperf(*RUN, "--jobs", "1", "--output", "one.json").code == 0
    document = _document("one.json")
    assert "jobs" not in document["run"]["settings"]
    assert not any("jobs" in record["facts"] for record in document["records"])


def test_canaries_are_measured_once_for_each_machine(
    opperf: Opperf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))
    told = "measuring once how far 2 jobs disturb each other on this machine"
    assert told in opperf(*RUN, "--jobs", "2").err
    assert told not in opperf(*RUN, "--jobs", "2").err


def test_a_crash_costs_its_own_trial_only(opperf: Opperf) -> None:
    words = ("run", "null:crash", "null:steady", "add", "exp", *RUN[4:], "--direction", "forward")
    done = opperf(*words, "--jobs", "2", "--format", "json")
    assert [record["status"] for record in done.records] == ["failed", "ok", "ok", "ok"]


def test_the_library_takes_jobs() -> None:
    results = library.run(["add", "exp"], framework="null", size="small", runs=3, jobs=2)
    assert [record.status for record in results] == ["ok"] * 4
    assert "jobs" in results[0].facts


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--jobs", "0"), "`--jobs` is `0`, expected `auto` or a whole number >= 1"),
        (("--jobs", "many"), "`--jobs` is `many`, expected `auto` or a whole number >= 1"),
        (("--jobs", "9999"), "`--jobs` is 9999, and the CPUs that may be used have room for"),
        (("--jobs", "2", "--cpus", "0"), "`--jobs` is 2, and the CPUs that may be used have room for 1"),
        (("--jobs", "2", "--fleet", "slurm:2"), "`--jobs` is for this machine"),
    ],
)
def test_a_number_of_jobs_that_cannot_be_had_is_refused(opperf: Opperf, words: tuple[str, ...], message: str) -> None:
    done = opperf(*RUN, *words)
    assert done.code == 2, done.err
    assert message in done.err
