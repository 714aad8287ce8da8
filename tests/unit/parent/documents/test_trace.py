"""A replay says what each case costs, its share of the whole, and how much of the trace was measured."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from opperf.domain.case import Case
from opperf.domain.measurement import Measurement, Outcome, Sample, Samples
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record, Run
from opperf.domain.suite import LeftOut
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.summary import record
from opperf.parent.documents.trace import Between, Replay, Trace, TracedCase
from opperf.parent.reports import render

CHEAP, DEAR, BAD, LATE = (
    Case(f"torch:aten::{name}.default", {"self": TensorSpec((4,))}) for name in ("cheap", "dear", "bad", "late")
)


def measured(case: Case, microseconds: int) -> Record:
    """Return a record whose calls all took so long."""
    samples = Samples(tuple(Sample(1, microseconds * 1000, microseconds * 1000) for _ in range(12)))
    trial = Trial(case, Side("torch"), "forward")
    return record(trial, [Outcome(trial, 0, "ok", Measurement({"time": samples}))], Settings())


def replay(*, times: bool = True) -> Replay:
    """Return a replay of four cases: two are measured, one fails, one was not reached; something was left out."""
    recorded = (lambda seconds: seconds) if times else (lambda seconds: None)
    failed = Record(Trial(BAD, Side("torch"), "forward"), "failed", Reason("raised", "it is bad\nand more"))
    trace = Trace(
        "et.json",
        (
            TracedCase(CHEAP, 10, recorded(4e-4)),
            TracedCase(DEAR, 1, recorded(5e-4)),
            TracedCase(BAD, 2, recorded(1e-4)),
            TracedCase(LATE, 1),
        ),
        (LeftOut("c10d::allreduce_", 6, "communication between processes"),),
    )
    records = (measured(CHEAP, 10), measured(DEAR, 300), failed)
    return Replay(trace, Run("r", "2026-11-21T00:00:00+00:00", (), Settings(), records=records))


def test_the_most_expensive_comes_first_and_shares_add_up() -> None:
    rows = replay().rows()
    assert [row["case"] for row in rows] == [DEAR.id, CHEAP.id, BAD.id, LATE.id]
    assert [row["total"] for row in rows] == [pytest.approx(3e-4), pytest.approx(1e-4), None, None]
    assert [row["share"] for row in rows] == [pytest.approx(0.75), pytest.approx(0.25), None, None]
    assert [row["cumulative"] for row in rows] == [pytest.approx(0.75), pytest.approx(1.0), None, None]
    assert [row["ratio"] for row in rows] == [pytest.approx(0.6), pytest.approx(0.25), None, None]


def test_coverage_is_by_calls_and_by_recorded_time() -> None:
    result = replay().coverage()
    assert (result["calls"], result["measured_calls"]) == (20, 11)
    assert result["share_of_calls"] == pytest.approx(11 / 20)
    assert result["share_of_time"] == pytest.approx(0.9)
    assert result["standalone"] == pytest.approx(4e-4)
    assert result["ratio"] == pytest.approx(4 / 9)


def test_without_recorded_times_nothing_is_said_of_them() -> None:
    result = replay(times=False).coverage()
    assert [result[name] for name in ("recorded", "measured_recorded", "share_of_time", "ratio")] == [None] * 4
    assert "recorded" not in render(replay(times=False), "console") + render(replay(times=False), "md")


def test_the_document_is_that_of_a_run_with_the_coverage() -> None:
    document = json.loads(render(replay(), "json"))
    assert Run.from_json(document).records[0].trial.case == CHEAP
    assert document["coverage"]["measured_calls"] == 11
    assert document["left_out"][0]["reason"] == "communication between processes"


def test_the_table_says_what_was_not_measured_and_why() -> None:
    text = render(replay(), "console")
    lines = text.splitlines()
    assert lines[2].split()[:4] == ["aten::dear", "1", "300", "us"]
    assert lines[2].endswith(" 4")
    assert "failed: it is bad" in lines[4]
    assert "not measured" in lines[5]
    assert "measured: 11 of 20 calls (55.0 %), 90.0 % of the recorded time" in text
    assert "standalone: 400 us in total, with warm caches, 0.44 of the 900 us that were recorded" in text
    assert "not measured: 3 calls" in text
    assert "left out: 6 calls" in text
    assert "left out: 6 x c10d::allreduce_: communication between processes" in text


def test_the_sums_say_what_lies_between_operators_or_why_that_is_not_known() -> None:
    result = replay()
    timed = replace(result, trace=replace(result.trace, between=Between(3e-4, 1.3e-3)))
    told = "between operators: 300 us (23.1 %) of the 1.30 ms from the first call to the end of the last"
    assert told in render(timed, "console", width=200)
    assert (timed.coverage()["between"], timed.coverage()["span"]) == (3e-4, 1.3e-3)
    assert "between operators: unknown for part of a trace" in render(result, "md")
    assert "between operators: unknown, like the times inside the program" in render(replay(times=False), "md")


@pytest.mark.parametrize(
    ("clock", "told"), [("host", "including profiler overhead"), ("device", "recorded: device time")]
)
def test_a_recorded_time_says_whose_clock_it_is_of(clock: str, told: str) -> None:
    result = replay()
    result = replace(result, trace=replace(result.trace, clock=clock))
    text = render(result, "md")
    assert f"| recorded ({clock}) |" in text
    assert told in text
    assert result.coverage()["clock"] == clock
    titles, first, *_, last = render(result, "csv").splitlines()
    place = titles.split(",").index("clock") - len(titles.split(","))
    assert [line.split(",")[place] for line in (first, last)] == [clock, ""]


def test_top_bounds_the_rows_for_people_and_says_so() -> None:
    text = render(replay(), "md", top=1)
    assert text.count("| aten::") == 1
    assert "3 more rows: without `--top` all are shown" in text
    assert render(replay(), "csv", top=1).count("torch:aten::") == 4


def test_a_trace_as_a_suite_keeps_the_counts() -> None:
    suite = replay().trace.suite()
    assert [(entry.case, entry.count, entry.origin) for entry in suite.cases][:2] == [
        (CHEAP, 10, "trace:et.json"),
        (DEAR, 1, "trace:et.json"),
    ]
