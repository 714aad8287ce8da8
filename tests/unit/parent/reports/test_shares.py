"""What stands below the table of a suite: what its calls amount to, and how that compares with the program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.parent.reports.conftest import run_of, statistics

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.domain.record import Record, Run
from opperf.parent.analysis.summary import with_shares
from opperf.parent.reports import remarks, render
from opperf.parent.reports.run import in_order

SIDE = Side("torch", environment="torch")


def suite_run(program: float | None) -> Run:
    """Return a run of 12 calls that take 8 ms by themselves; one case failed."""
    records = [
        Record(Trial(Case("add"), SIDE, "forward", count=10), "ok", metrics={"time": statistics(2e-4)}),
        Record(Trial(Case("mul"), SIDE, "forward", count=2), "ok", metrics={"time": statistics(3e-3)}),
        Record(Trial(Case("abs"), SIDE, "forward", count=3), "failed"),
    ]
    header: dict[str, Any] = {"name": "step", "source": "code:train:step"}
    if program is not None:
        header["program"] = {"time": program, "calls": 20, "framework": "torch", "version": "2.13.0", "threads": 1}
    run = run_of(*with_shares(records))
    return replace(run, environment={**run.environment, "suite": header})


def test_rows_begin_with_what_takes_most_in_all() -> None:
    rows = in_order(suite_run(None).records)
    assert [record.trial.case.operator for record in rows] == ["mul", "add", "abs"]


def test_calls_totals_and_shares_are_columns() -> None:
    text = render(suite_run(None))
    heading = next(line for line in text.splitlines() if "operator" in line)
    assert heading.index("calls") < heading.index("total") < heading.index("share") < heading.index("cumulative")
    assert "75.0 %" in text


def test_a_run_without_a_suite_has_none_of_them() -> None:
    run = run_of(Record(Trial(Case("add"), SIDE, "forward"), "ok", metrics={"time": statistics(2e-4)}))
    text = render(run)
    assert remarks.shares(run) == []
    assert not {"calls", "total", "share"} & set(text.replace(",", " ").split())


def test_the_sum_stands_alone_where_no_program_was_timed() -> None:
    (line,) = remarks.shares(suite_run(None))
    assert line == "torch, cpu, eager, threads 1: 12 of 15 calls take 8.00 ms standalone, with warm caches"


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (8e-3, "1.00 of it"),
        (20e-3, "0.40 of it. The rest, 12.0 ms, is 3 calls that were not measured, and the time between operators"),
        (4e-3, "2.00 of it. In the program they overlap"),
    ],
)
def test_the_sum_is_compared_with_the_program(program: float, told: str) -> None:
    (line,) = remarks.shares(suite_run(program))
    assert told in line


def test_eager_calls_of_tensorflow_can_be_timed_without_python() -> None:
    def remark(framework: str, mode: str, clock: str) -> str:
        run = suite_run(4e-3)
        side = replace(SIDE, framework=framework, mode=mode)
        records = [
            replace(
                record,
                trial=replace(record.trial, side=side),
                metrics={"time": replace(statistics(1e-3), clock=clock)} if record.metrics else {},
            )
            for record in run.records
        ]
        return remarks.shares(replace(run, records=tuple(records)))[0]

    told = "or are called without Python; `--clock profiler` measures without it"
    assert remark("tensorflow", "eager", "wall").endswith(told)
    for other in (("torch", "eager", "wall"), ("tensorflow", "compiled", "wall"), ("tensorflow", "eager", "profiler")):
        assert remark(*other).endswith("or are called without Python")


def test_each_of_several_functions_has_its_own_time() -> None:
    run = suite_run(8e-3)
    parts = [{"name": "prefill", "time": 5e-3}, {"name": "decode", "time": 3e-3}]
    header = {**run.environment["suite"], "parts": parts}
    (line,) = remarks.shares(replace(run, environment={**run.environment, "suite": header}))
    assert "(torch 2.13.0, threads 1; prefill 5.00 ms; decode 3.00 ms)" in line


def test_operators_that_were_captured_unfused_are_called_so() -> None:
    run = suite_run(None)
    header = {**run.environment["suite"], "source": "code:train:step, unfused"}
    (line,) = remarks.shares(replace(run, environment={**run.environment, "suite": header}))
    assert line.endswith("12 of 15 calls, unfused, take 8.00 ms standalone, with warm caches")


def test_the_rest_of_a_program_that_was_measured_whole_lies_between_its_operators() -> None:
    run = suite_run(20e-3)
    (line,) = remarks.shares(replace(run, records=run.records[:2]))
    assert "12 of 12 calls" in line
    assert "0.40 of it. The rest is time between operators, 1.00 ms a call: Python" in line


def test_what_a_suite_left_out_is_in_the_sums_with_its_reasons() -> None:
    run = suite_run(20e-3)
    sparse = "a tensor that is sparse"
    several = [{"name": "aten::_nnz", "count": 4, "reason": sparse, "recorded": None}]
    several += [{"name": "aten::add_", "count": 140, "reason": sparse, "recorded": 2e-3}]
    header = {**run.environment["suite"], "left_out": several}
    line, *reasons = remarks.shares(replace(run, environment={**run.environment, "suite": header}))
    assert "12 of 159 calls take 8.00 ms" in line
    assert "; 144 are left out of the suite, those of known time 2.00 ms when they were recorded" in line
    assert "The rest, 12.0 ms, is the 144 calls left out, 3 calls that were not measured, and the time" in line
    assert reasons == [
        "left out: 140 x aten::add_, 2.00 ms when it was recorded: a tensor that is sparse",
        "left out: 4 x aten::_nnz: a tensor that is sparse",
    ]


def test_of_many_reasons_those_of_the_most_calls_are_told() -> None:
    run = suite_run(None)
    several = [{"name": f"f{i}", "count": i, "reason": "why"} for i in range(1, 8)]
    header = {**run.environment["suite"], "left_out": several}
    line, *told = remarks.shares(replace(run, environment={**run.environment, "suite": header}))
    assert "; 28 are left out of the suite, whose time is unknown" in line
    assert told[0].startswith("left out: 7 x f7")
    assert told[-1] == "left out: 3 more calls, listed in the suite"
