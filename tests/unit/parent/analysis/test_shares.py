"""What all calls of a suite's cases take, and their shares: by side, the most expensive first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.parent.reports.conftest import statistics

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.domain.record import Record, Statistics
from opperf.parent.analysis.summary import with_shares

TORCH, JAX = Side("torch"), Side("jax", mode="compiled")


def measured(operator: str, seconds: float, count: int, side: Side = TORCH) -> Record:
    time: Statistics = statistics(seconds)
    trial = Trial(Case(operator), replace(side, implementation=f"own.{operator}"), "forward", count=count)
    return Record(trial, "ok", metrics={"time": time})


def test_a_share_is_that_of_all_calls_of_the_same_side() -> None:
    records = [measured("add", 1.0, 2), measured("mul", 6.0, 1), measured("add", 5.0, 1, JAX)]
    facts = [record.facts["suite"] for record in with_shares(records)]
    assert facts == [
        {"total": 2.0, "share": 0.25, "cumulative": 1.0},
        {"total": 6.0, "share": 0.75, "cumulative": 0.75},
        {"total": 5.0, "share": 1.0, "cumulative": 1.0},
    ]


def test_what_was_not_measured_has_no_share_and_stays_in_its_place() -> None:
    skipped = Record(Trial(Case("abs"), TORCH, "forward", count=9), "skipped")
    first, second = with_shares([skipped, measured("add", 1.0, 3)])
    assert first is skipped
    assert second.facts["suite"]["share"] == pytest.approx(1.0)
