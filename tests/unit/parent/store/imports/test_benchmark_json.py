"""What the files of pytest-benchmark and google-benchmark state, and nothing else, under names that stay apart."""

from __future__ import annotations

from typing import Any

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.record import Statistics
from opperf.parent.store.imports.absolute_times import Foreign
from opperf.parent.store.imports.benchmark_json import google_run, pytest_run

STATS = {"min": 1.0, "max": 4.0, "mean": 2.5, "median": 2.0, "stddev": 0.5, "rounds": 50, "iterations": 3}


def of_pytest(*tests: dict[str, Any], **changes: Any) -> Foreign:
    """Read a file of pytest-benchmark with these tests."""
    benchmarks = [{"name": one["fullname"], "stats": STATS, **one} for one in tests]
    return pytest_run({"datetime": "2026-11-23T10:00:00Z", "benchmarks": benchmarks, **changes}, "x.json")


def of_google(*rows: dict[str, Any], **context: Any) -> Foreign:
    """Read a file of google-benchmark with these rows."""
    return google_run({"context": context, "benchmarks": list(rows)}, "x.json", version="1")


def aggregate(name: str, time: float, unit: str = "time") -> dict[str, Any]:
    """Return a row of google-benchmark that stands for five repetitions."""
    row = {"name": f"sum_{name}", "run_name": "sum", "run_type": "aggregate", "repetitions": 5, "time_unit": "s"}
    return {**row, "aggregate_name": name, "aggregate_unit": unit, "real_time": time}


def only_time(foreign: Foreign) -> Statistics:
    """Return the statistics of the only record."""
    (record,) = foreign.run.records
    assert record.time is not None
    return record.time


def keys(foreign: Foreign) -> list[tuple[str, dict[str, Any]]]:
    """Return the operator and the attributes of each record."""
    return [(record.trial.case.operator, dict(record.trial.case.attributes)) for record in foreign.run.records]


def test_what_pytest_benchmark_does_not_state_is_null() -> None:
    time = only_time(of_pytest({"fullname": "t.py::test_a"}))
    assert (time.median, time.mean, time.min, time.max, time.stdev) == (2.0, 2.5, 1.0, 4.0, 0.5)
    assert (time.p90, time.p99, time.processes, time.discarded) == (None,) * 4


@each(
    ("tests", "expected"),
    [
        # Without parameters the brackets alone tell two tests apart.
        (
            [{"fullname": "t.py::test_a[0]"}, {"fullname": "t.py::test_a[1]"}],
            [("t.py::test_a", {"id": "0"}), ("t.py::test_a", {"id": "1"})],
        ),
        ([{"fullname": "t.py::test_a[8]", "params": {"n": 8}}], [("t.py::test_a", {"n": 8})]),
        # Two tests may have the same parameters under different names.
        (
            [{"fullname": f"t.py::test_a[{name}]", "params": {"n": 8}} for name in ("one", "two")],
            [("t.py::test_a", {"n": 8, "id": "one"}), ("t.py::test_a", {"n": 8, "id": "two"})],
        ),
        ([{"fullname": "t.py::test_a"}], [("t.py::test_a", {})]),
    ],
)
def test_tests_of_pytest_stay_apart(tests: list[dict[str, Any]], expected: list[tuple[str, dict[str, Any]]]) -> None:
    assert keys(of_pytest(*tests)) == expected


@each(
    ("name", "expected"),
    [
        ("Matrix/Multiply/8", ("Matrix/Multiply", {"arg1": 8})),
        ("Matrix/Invert/8/threads:2", ("Matrix/Invert", {"arg1": 8, "threads": 2})),
        ("sum/n:8/min_time:0.500", ("sum", {"n": 8, "min_time": 0.5})),
        ("sum<int>/-4/real_time", ("sum<int>", {"arg1": -4, "arg2": "real_time"})),
        ("std::sort/captured", ("std::sort/captured", {})),
        ("sum/" + "9" * 40, ("sum", {"arg1": "9" * 40})),
    ],
)
def test_the_name_of_an_operator_ends_where_its_arguments_begin(
    name: str, expected: tuple[str, dict[str, Any]]
) -> None:
    assert keys(of_google({"name": name, "real_time": 1.0})) == [expected]


def test_a_lone_median_is_no_mean_and_a_lone_mean_no_median() -> None:
    time = only_time(of_google(aggregate("median", 2.0)))
    assert (time.value, time.median, time.mean, time.min, time.samples) == (2.0, 2.0, None, None, 5)
    time = only_time(of_google(aggregate("mean", 3.0)))
    assert (time.value, time.median, time.mean, time.p50) == (3.0, None, 3.0, None)


def test_every_aggregate_is_imported_or_counted() -> None:
    rows = (aggregate("mean", 3.0), aggregate("median", 2.0), aggregate("stddev", 0.5))
    foreign = of_google(*rows, aggregate("cv", 0.2, "percentage"), aggregate("p95", 4.0))
    time = only_time(foreign)
    assert (time.mean, time.median, time.stdev) == (3.0, 2.0, 0.5)
    assert foreign.left_out == {'aggregates called "cv"': 1, 'aggregates called "p95"': 1}
    foreign = of_google(aggregate("stddev", 0.5))
    assert (foreign.run.records, foreign.left_out) == (
        (),
        {"benchmarks of which neither median nor mean is stated": 1},
    )


def test_aggregates_beside_their_repetitions_say_nothing_new() -> None:
    once = {"name": "sum", "run_name": "sum", "run_type": "iteration", "time_unit": "s"}
    repetitions = ({**once, "real_time": time} for time in (1.0, 3.0, 2.0))
    foreign = of_google(*repetitions, aggregate("median", 2.0), aggregate("cv", 0.5, "percentage"))
    assert (only_time(foreign).samples, foreign.left_out) == (3, {})


@each(
    ("date", "started"),
    [
        ("2026-11-23T11:00:00Z", "2026-11-23T11:00:00+00:00"),
        ("2016/07/01-22:03:12", "2016-07-01T22:03:12+00:00"),
        ("2016-07-01 22:03:12", "2016-07-01T22:03:12+00:00"),
    ],
)
def test_dates_of_every_release_are_read(date: str, started: str) -> None:
    assert of_google({"name": "sum", "real_time": 1.0}, date=date).run.started == started


@each(
    ("file", "place"),
    [
        ({"tests": [{"fullname": "a", "stats": {**STATS, "max": 1e300}}]}, "benchmarks[0].stats"),
        ({"tests": [{"fullname": ["a"], "name": "a"}]}, "benchmarks[0].fullname"),
        ({"machine_info": {"cpu": {"brand_raw": ["EPYC"]}}}, "environment.machine.cpu"),
        ({"machine_info": {"cpu": {"count": "9" * 5000}}}, "environment.machine.cores_logical"),
        ({"datetime": "9999-12-31T23:59:59-23:59"}, "datetime"),
        ({"datetime": "yesterday"}, "datetime"),
    ],
)
def test_what_could_not_be_shown_later_is_refused_with_its_place(file: dict[str, Any], place: str) -> None:
    tests = file.pop("tests", [{"fullname": "a"}])
    with pytest.raises(InputError, match=r"x\.json") as refusal:
        of_pytest(*tests, **file)
    assert place in refusal.value.message
