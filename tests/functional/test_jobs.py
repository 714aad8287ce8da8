"""`--jobs`: trials side by side on real CPUs, and everything else as with one job."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.functional.conftest import FEW, invoke

import opperf as library
from opperf.parent.workers import canaries
from opperf.parent.workers.canaries import Turn
from opperf.parent.workers.topology import leases, usable_cores

Opperf: TypeAlias = Callable[..., Any]

FEWEST = ("--framework", "null", "--size", "small", "--runs", "3")
RUN = ("run", "add", "exp", "log", *FEWEST)
#: As little as two jobs can share.
SHORT = ("run", "add", "exp", *FEWEST, "--direction", "forward")
PAIR = ("--base", "null", "--new", "null;slowdown=1.01", "--size", "small", *FEW)

pytestmark = pytest.mark.skipif(len(leases(usable_cores(), 1)) < 2, reason="two physical cores are needed")


@pytest.fixture(autouse=True)
def _quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have canaries find that nothing disturbs: on a busy machine everything would run alone."""
    _calm(monkeypatch, tmp_path / "cache")


def _calm(patch: pytest.MonkeyPatch, cache: Path) -> None:
    patch.setenv("OPPERF_CACHE_DIR", str(cache))
    patch.setattr(canaries, "_turn", lambda canaries, seconds: Turn(0.01, 1.0))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the records of one job, and with those of two."""
    folder = tmp_path_factory.mktemp("jobs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        _calm(patch, folder / "cache")
        for jobs, file in (("1", "one.json"), ("2", "two.json")):
            done = invoke(*RUN, "--processes", "2", "--jobs", jobs, "--output", file)
            assert done.code == 0, done.err
    return folder


def _document(file: str | Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path(file).read_text())
    return document


def _trials(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["case"]["operator"], one["direction"], one["status"]) for one in document["records"]]


def test_two_jobs_give_the_records_of_one_in_its_order_and_say_on_which_cpus(measured: Path) -> None:
    one, two = _document(measured / "one.json"), _document(measured / "two.json")
    assert _trials(one) == _trials(two)
    cpus = [record["facts"]["jobs"]["cpus"] for record in two["records"]]
    assert all(len(each) == 1 for each in cpus)
    assert {"cpus", "class", "beside"} == set(two["records"][0]["facts"]["jobs"])
    assert two["run"]["settings"]["jobs"] == 2
    assert [record["metrics"]["time"]["processes"] for record in two["records"]] == [2] * 6


@pytest.mark.parametrize("kind", ["run", "compare"])
def test_show_prints_where_each_was_measured_and_beside_what(opperf: Opperf, kind: str, measured: Path) -> None:
    file = measured / "two.json"
    if kind == "compare":
        file = Path("two.json")
        assert opperf("compare", "add", "exp", "log", *PAIR, "--jobs", "2", "--output", file).code == 0
    document = _document(file)
    shown = opperf("show", file, "--format", "csv").out.splitlines()
    rows = list(csv.DictReader(shown))
    jobs = [one["facts"]["jobs"] for one in document.get("records") or document["comparisons"]]
    assert [row["job_cpus"] for row in rows] == [" ".join(map(str, one["cpus"])) for one in jobs]
    assert [row["job_beside"] for row in rows] == [", ".join(one["beside"]) for one in jobs]
    assert "beside null" in opperf("show", file, "--format", "md").out


def test_one_job_leaves_no_trace(opperf: Opperf, measured: Path) -> None:
    document = _document(measured / "one.json")
    assert "jobs" not in document["run"]["settings"]
    assert not any("jobs" in record["facts"] for record in document["records"])
    assert "CPU" not in opperf("show", measured / "one.json").out


def test_canaries_are_measured_once_for_each_machine(
    opperf: Opperf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "measuring once how far 2 jobs disturb each other on this machine"
    assert told in opperf(*SHORT, "--jobs", "2").err
    assert told not in opperf(*SHORT, "--jobs", "2").err


def test_canaries_that_were_disturbed_are_not_kept(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canaries, "_turn", lambda canaries, seconds: Turn(0.01, 0.6))
    for _ in range(2):
        told = opperf(*SHORT, "--jobs", "2").err
        assert "measuring once how far 2 jobs disturb each other on this machine" in told
        assert "other work runs on this machine, so this will be measured again" in told


def test_a_crash_costs_its_own_trial_only(opperf: Opperf) -> None:
    words = ("run", "null:crash", "null:steady", "add", "exp", *FEWEST, "--direction", "forward")
    done = opperf(*words, "--jobs", "2", "--format", "json")
    assert [record["status"] for record in done.records] == ["failed", "ok", "ok", "ok"]


def test_the_library_takes_jobs() -> None:
    results = library.run(["add", "exp"], framework="null", size="small", runs=3, jobs=2)
    assert [record.status for record in results] == ["ok"] * 4
    assert "jobs" in results[0].facts


@pytest.mark.slow
def test_a_comparison_side_by_side_says_what_one_job_says_in_its_order_and_where(opperf: Opperf) -> None:
    words = ("compare", "add", "exp", "log", *PAIR)
    assert opperf(*words, "--output", "one.json").code == 0
    done = opperf(*words, "--jobs", "2", "--output", "two.json")
    assert done.code == 0, done.err
    one, two = (_document(name)["comparisons"] for name in ("one.json", "two.json"))
    kept = ("direction", "verdict", "ratio", "pairs", "base_time", "new_time")
    assert [one["case"]["operator"] for one in two] == ["add", "exp", "log"]
    assert [[each[key] for key in kept] for each in one] == [[each[key] for key in kept] for each in two]
    assert not any("jobs" in each["facts"] for each in one)
    assert all({"cpus", "class", "beside"} == set(each["facts"]["jobs"]) for each in two)
    assert any(each["facts"]["jobs"]["beside"] for each in two)


@pytest.mark.slow
def test_a_crash_fails_its_own_comparison_only(opperf: Opperf) -> None:
    done = opperf("compare", "null:crash", "add", "exp", "log", *PAIR, "--jobs", "2", "--format", "json")
    assert done.code == 0, done.err
    verdicts = [one["verdict"] for one in json.loads(done.out)["comparisons"]]
    assert verdicts == ["failed", "same", "same", "same"]


def test_a_side_that_does_not_start_fails_every_comparison_with_the_reason_of_one_job(opperf: Opperf) -> None:
    words = ("compare", "add", "exp", "--base", "null", "--new", "null;slowdown=none", "--size", "small")
    done = [opperf(*words, "--jobs", jobs, "--format", "json") for jobs in ("1", "2")]
    assert [each.code for each in done] == [3, 3]
    one, two = ([(each["verdict"], each["reason"]) for each in json.loads(each.out)["comparisons"]] for each in done)
    assert one == two
    assert {verdict for verdict, _ in one} == {"failed"}


@pytest.mark.slow
def test_noise_is_measured_side_by_side(opperf: Opperf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("noise", "add", "exp", "--framework", "null", "--size", "small", "--repeats", "1", *FEW)
    done = opperf(*words, "--jobs", "2", "--format", "json")
    assert done.code == 0, done.err
    floors = json.loads(done.out)["floors"]
    assert [(floor["trial"]["case"]["operator"], floor["alarms"]) for floor in floors] == [("add", 0), ("exp", 0)]
    assert all("jobs" in floor["facts"] for floor in floors)


@pytest.mark.slow
def test_a_gate_judges_side_by_side_as_its_file_or_an_option_says(opperf: Opperf) -> None:
    Path("opperf.toml").write_text(
        'base = "null"\nnew = "null;slowdown=1.5"\noperators = ["add", "exp"]\nsizes = "small"\njobs = 2\n'
    )
    done = opperf("gate", "--output", "gate.json")
    assert done.code == 1, done.err
    assert all("jobs" in one["facts"] for one in _document("gate.json")["comparisons"])
    alone = opperf("gate", "--jobs", "1", "--output", "alone.json")
    assert alone.code == 1, alone.err
    assert not any("jobs" in one["facts"] for one in _document("alone.json")["comparisons"])
    assert "`--jobs` is `no`, expected `auto` or" in opperf("gate", "--jobs", "no").err


@pytest.mark.slow
def test_explore_confirms_side_by_side(opperf: Opperf) -> None:
    words = ("explore", "null:cliff", "--framework", "null", "--dims", "data.0=16,data.1=1030..1034")
    one, two = opperf(*words, "--format", "json"), opperf(*words, "--jobs", "2", "--format", "json")
    assert two.code == 0, two.err
    territories = [json.loads(done.out)["exploration"]["territories"] for done in (one, two)]
    assert [len(each[0]["anomalies"]) for each in territories] == [1, 1]
    assert json.loads(two.out)["run"]["settings"]["jobs"] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--jobs", "0"), "`--jobs` is `0`, expected `auto` or a whole number >= 1"),
        (("--jobs", "many"), "`--jobs` is `many`, expected `auto` or a whole number >= 1"),
        (("--jobs", "9999"), "`--jobs` is 9999, but the available CPUs have room for"),
        (("--jobs", "2", "--cpus", "0"), "`--jobs` is 2, but the available CPUs have room for 1"),
        (("--jobs", "2", "--fleet", "slurm:2"), "`--jobs` applies to this machine"),
    ],
)
def test_a_number_of_jobs_that_cannot_be_had_is_refused(opperf: Opperf, words: tuple[str, ...], message: str) -> None:
    done = opperf(*RUN, *words)
    assert done.code == 2, done.err
    assert message in done.err


def test_what_fails_for_its_share_of_the_memory_is_measured_alone_at_the_end(
    opperf: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opperf.parent.workers.starting.available_memory", lambda: 1000 << 20)
    (here / "mine.py").write_text(
        "import functools, mmap\n"
        "@functools.cache\n"  # by the null framework's clock these take no time, so each is called often
        "def take(size):\n    mmap.mmap(-1, size << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()\n"
        "def large(x):\n    take(500)\n"
        "def too_large(x):\n    take(2000)\n"
        "def small(x):\n    pass\n"
    )
    words = [f"mine.py:{name}" for name in ("large", "too_large", "small")]
    done = opperf("run", *words, "--framework", "null", "--input", "x=4", "--runs", 3, "--jobs", 2, "--format", "json")
    records = json.loads(done.out)["records"]
    assert [one["status"] for one in records] == ["ok", "failed", "ok"]
    assert ["jobs" in one["facts"] for one in records if one["status"] == "ok"] == [False, True]
    assert records[1]["reason"]["slug"] == "out_of_memory"
