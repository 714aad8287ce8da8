"""The rows of a replay: what `--top` hides is counted, and what failed among it says why."""

from __future__ import annotations

import csv
import io

import pytest
from tests.unit.parent.reports.conftest import run_of, statistics

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record
from opperf.parent.documents.trace import Replay, Trace, TracedCase
from opperf.parent.reports import render
from opperf.parent.reports.replay import REASONS


def replayed(*reasons: str) -> Replay:
    """Return a replay of one measured call, and of one for each reason that failed."""
    cases = [Case("torch:aten::mm"), *(Case(f"torch:aten::op{i}") for i, _ in enumerate(reasons))]
    trials = [Trial(case, Side("torch"), "forward") for case in cases]
    failed = (Record(one, "failed", Reason("raised", why)) for one, why in zip(trials[1:], reasons, strict=True))
    records = (Record(trials[0], "ok", metrics={"time": statistics(1e-3)}), *failed)
    return Replay(Trace("t.json", tuple(TracedCase(case, 3) for case in cases)), run_of(*records))


@pytest.mark.parametrize("format", ["console", "md"])
def test_rows_that_top_hides_say_why_they_were_not_measured(format: str) -> None:
    shown = render(replayed("out of memory", "index out of range", "out of memory"), format, top=1)
    assert "3 more rows" in shown
    assert "failed: out of memory (2): aten::op0, aten::op2" in shown
    assert "failed: index out of range (1): aten::op1" in shown


def test_reasons_of_rows_that_are_shown_stand_there_alone() -> None:
    assert render(replayed("out of memory"), "console").count("out of memory") == 1


def test_of_many_reasons_the_first_are_told_and_csv_has_all() -> None:
    many = replayed(*(f"reason {i}" for i in range(REASONS + 4)))
    shown = render(many, "console", top=1)
    assert sum("failed: reason" in line for line in shown.splitlines()) == REASONS
    assert "4 more reasons are in `--format csv`" in shown
    rows = list(csv.DictReader(io.StringIO(render(many, "csv"))))
    assert {row["reason"] for row in rows} == {"", *(f"reason {i}" for i in range(REASONS + 4))}
