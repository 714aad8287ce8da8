"""`opperf noise` on the null framework, and what comparisons make of its floors."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import FEW, Done
from tests.functional.conftest import invoke as opperf
from tests.watched import Watched

from opperf.parent.commands.noise import Order, Study, noise
from opperf.parent.planning.request import Request
from opperf.parent.sources.options import What, Where

NOISE = ("noise", "add", "--framework", "null", "--repeats", "1")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the floors a cache of their own."""
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A cache with the floor of `add`, and what measured it."""
    folder = tmp_path_factory.mktemp("floor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPPERF_CACHE_DIR", str(folder))
        done = opperf(*NOISE, "--format", "json")
    assert done.code == 0, done.err
    return folder, done


@pytest.fixture
def floor(measured: tuple[Path, Done], cache: Path) -> Path:
    """The file with the floor of `add`, where each test may change it."""
    shutil.copytree(measured[0] / "noise", cache / "noise")
    (file,) = (cache / "noise").glob("*.json")
    return file


def kept(cache: Path) -> list[dict[str, Any]]:
    """Return the floors that are kept."""
    (file,) = (cache / "noise").glob("*.json")
    floors: list[dict[str, Any]] = json.loads(file.read_text())["floors"]
    return floors


def test_identical_code_has_a_floor_and_no_false_alarm(measured: tuple[Path, Done]) -> None:
    cache, done = measured
    document = json.loads(done.out)
    assert document["false_alarms"] | {"interval": None} == {
        "alarms": 0, "comparisons": 1, "interval": None, "tolerance": 0.02,
    }  # fmt: skip
    (floor,) = document["floors"]
    assert (floor["pairs"], floor["spread"], floor["between"]) == (5, 0.0, 0.0)
    assert floor["time"] == pytest.approx(8.4e-4, rel=0.01)
    assert kept(cache) == document["floors"]


def test_an_operator_without_a_floor_is_named_with_the_reason(cache: Path) -> None:
    done = opperf("noise", "add", "null:raise", *NOISE[2:], *FEW)
    assert done.code == 0, done.err
    assert "No floor for null:raise forward: this operator always raises" in done.out
    assert [floor["trial"]["case"]["operator"] for floor in kept(cache)] == ["add"]


def test_when_nothing_has_a_floor_the_exit_code_says_so(cache: Path) -> None:
    done = opperf("noise", "null:raise", "--framework", "null", "--repeats", "1")
    assert done.code == 3
    assert "Nothing was compared." in done.out
    assert not list((cache / "noise").glob("*.json"))


@pytest.mark.slow
def test_a_comparison_takes_the_pairs_that_a_stored_floor_asks_for(floor: Path) -> None:
    document = json.loads(floor.read_text())
    document["floors"][0]["spread"] = 0.02
    floor.write_text(json.dumps(document))
    done = opperf("compare", "add", "--base", "null", "--new", "null", "--format", "json")
    assert [one["pairs"] for one in json.loads(done.out)["comparisons"]] == [7]


def test_recorded_runs_are_judged_by_a_stored_floor(cache: Path, tmp_path: Path) -> None:
    old, new = str(tmp_path / "old.json"), str(tmp_path / "new.json")
    common = ("run", "null:steady", "--framework", "null", "--processes", "3", "--runs", "20", "--output")
    assert opperf(*common, old).code == 0
    data = json.loads(Path(old).read_text())
    for columns in data["records"][0]["samples"]["time"]:
        columns["wall_ns"] = [round(1.10 * wall) for wall in columns["wall_ns"]]
    Path(new).write_text(json.dumps(data))
    before = json.loads(opperf("compare", old, new, "--format", "json").out)["comparisons"][0]
    assert before["verdict"] == "inconclusive"
    assert "15.0%" in before["reason"]
    opperf("noise", "null:steady", *NOISE[2:], *FEW)
    after = json.loads(opperf("compare", old, new, "--format", "json").out)["comparisons"][0]
    assert after["verdict"] == "slower"
    assert after["ratio"] == pytest.approx(1.10, rel=0.01)


def test_a_record_shows_the_floor_of_its_operator_where_it_is_known(floor: Path) -> None:
    common = ("run", "add", "exp", "--framework", "null", "--direction", "forward", "--format", "json")
    add, exp = opperf(*common).records
    assert "noise_floor" not in exp["facts"]
    assert add["facts"]["noise_floor"] == 0.0


def test_a_damaged_file_of_floors_is_told_before_anything_is_measured(floor: Path) -> None:
    floor.write_text(floor.read_text()[:100])
    done = opperf("run", "add", "--framework", "null")
    assert (done.code, done.out) == (2, "")
    assert f"{floor}: not JSON" in done.err
    assert "remove it" in done.err


def test_error_rates_are_told_of_each_case_and_of_the_suite(cache: Path, tmp_path: Path) -> None:
    rates = ("--error-rate", "--layout", "--repeats", "1", "--pairs", "3")
    done = opperf("noise", "null:steady", "null:placed", "--framework", "null", *rates, "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["false_alarms"]["suites"] == {"cases": 2, "suites": 1, "alarms": 0}
    steady, placed = document["floors"]
    assert [one["detection"] | {"seconds": 0} for one in (steady, placed)] == [
        {"effect": 0.05, "detections": 1, "inconclusive": 0, "comparisons": 1,
         "ratio": pytest.approx(1.05), "seconds": 0}
    ] * 2  # fmt: skip
    assert [(one["alarms"], one["comparisons"]) for one in (steady, placed)] == [(0, 1)] * 2
    assert steady["seconds"] > 0
    still = {"moved": 0.0, "layouts": 1, "alarms": 0, "comparisons": 1}
    assert steady["displacement"] == still
    assert placed["displacement"] == still | {"moved": pytest.approx(math.log(1.05)), "alarms": 1}
    assert (steady["moved"], placed["moved"]) == (pytest.approx(0, abs=1e-9), placed["displacement"]["moved"])
    assert kept(cache) == document["floors"]
    (tmp_path / "noise.json").write_text(done.out)
    table = opperf("show", str(tmp_path / "noise.json")).out
    assert "1 of 1" in table
    assert table.splitlines()[-1] == (
        "None of 1 comparisons of the whole suite reported a change: a night of 2 cases cries wolf at most once in 1.0 "
        "nights (95 %, Clopper-Pearson)."
    )


def test_a_suite_may_stand_in_place_of_operators(cache: Path, tmp_path: Path) -> None:
    suite = {"schema_version": 1, "cases": [{"case": {"operator": "exp", "inputs": {"data": {"shape": [8]}}}}]}
    (tmp_path / "step.json").write_text(json.dumps(suite))
    few = ("--framework", "null", "--repeats", "1", "--pairs", "3")
    done = opperf("noise", str(tmp_path / "step.json"), *few, "--format", "json")
    assert [one["trial"]["case"]["operator"] for one in json.loads(done.out)["floors"]] == ["exp"]


@pytest.mark.parametrize(
    "options",
    [
        ("--repeats", "0"),
        ("--pairs", "2"),
        ("--tolerance", "much"),
        ("--effect", "5%"),
        ("--effect", "0%", "--error-rate"),
        ("--effect", "100%", "--error-rate"),
        ("--effect", "5", "--error-rate"),
    ],
    ids=" ".join,
)
def test_a_number_that_makes_no_sense_is_refused(options: tuple[str, ...]) -> None:
    done = opperf("noise", "add", "--framework", "null", *options)
    assert (done.code, done.out) == (2, "")
    assert options[0] in done.err


def test_what_a_budget_cuts_short_is_told_and_counts_nowhere(cache: Path) -> None:
    done = opperf("noise", "add", "--framework", "null", "--error-rate", "--budget", "0.001")
    assert done.code == 3
    assert "2 more did not come to their end" in done.out


def test_extra_calls_are_not_made_on_a_device() -> None:
    done = opperf("noise", "add", "--framework", "null", "--device", "cuda:0", "--error-rate")
    assert done.code == 2
    assert "`--error-rate` makes extra calls on a CPU" in done.err


@pytest.mark.slow
def test_ctrl_c_keeps_the_floors_that_are_there(cache: Path) -> None:
    command = [sys.executable, "-m", "opperf", "noise", "add", "--framework", "null", "--repeats", "1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("round 2 "):
                break
        os.kill(process.pid, signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "comparisons of identical code" in out
    assert [floor["trial"]["case"]["operator"] for floor in kept(cache)] == ["add"]


def test_the_pairs_of_each_round_are_shown(cache: Path) -> None:
    progress = Watched()
    where, what = Where(framework=("null",)), What(direction=("forward",))
    document, cause = noise(["add"], Request(what, where), Order(Study(2)), progress)
    assert cause is None
    assert len(document.floors) == 1
    first = [line for line in progress.lines if line.startswith("pair 1 of 3: 1 comparison: 0 of ")]
    assert len(first) == 2, "a bar for each of two rounds"
    assert progress.lines[-1] == "close"
