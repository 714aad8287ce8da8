"""Two suites beside each other: sums by module and group, and the interval of their ratio."""

from __future__ import annotations

import math
from datetime import datetime, timezone

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.documents.suite_change import Part, change_between

#: How far an interval of a case reaches on either side, as a log-ratio.
WIDTH = 0.1


def measured(name: str, seconds: float, framework: str = "torch", *, wide: bool = True) -> Record:
    """Return the record of a case that takes so long."""
    interval = (seconds * math.exp(-WIDTH), seconds * math.exp(WIDTH)) if wide else None
    same = seconds, seconds, seconds, seconds, seconds, seconds
    time = Statistics(*same, 0.0, interval, None, None, 9, 1, 0, 3)
    return Record(Trial(Case(name), Side(framework), "forward"), "ok", metrics={"time": time})


def run_of(*records: Record) -> Run:
    """Return a run of records."""
    return Run("1", datetime.now(timezone.utc).isoformat(), (), Settings(), records=records)


def suite(name: str, *cases: tuple[str, int, str]) -> Suite:
    """Return a suite of operators, their counts and modules."""
    return Suite(name, "", tuple(SuiteCase(Case(operator), count, origin) for operator, count, origin in cases))


def test_what_both_suites_have_does_not_widen_the_ratio() -> None:
    run = run_of(measured("torch:torch.relu", 1.0), measured("torch:torch.mm", 2.0))
    change = change_between(
        suite("a", ("torch:torch.relu", 5, "Net"), ("torch:torch.mm", 1, "Net")),
        suite("b", ("torch:torch.relu", 5, "Net"), ("torch:torch.mm", 1, "Net.b")),
        run,
        (None, None),
    )
    assert change.whole.ratio == 1.0
    assert change.interval is not None
    assert [*change.interval] == pytest.approx([1.0, 1.0], abs=1e-5)
    assert {(row.module, row.group, row.only) for row in change.rows} == {
        ("Net", "elementwise", ""),
        ("Net", "products", "before"),
        ("Net.b", "products", "after"),
    }


def test_a_case_of_one_suite_alone_moves_the_ratio_by_its_share() -> None:
    run = run_of(measured("torch:torch.relu", 1.0), measured("torch:torch.mm", 2.0))
    before, after = suite("a", ("torch:torch.relu", 2, "Net")), suite("b", ("torch:torch.mm", 2, "Net"))
    change = change_between(before, after, run, (None, None))
    assert change.whole.ratio == 2.0
    assert change.interval is not None
    assert math.log(change.interval[1] / 2.0) == pytest.approx(WIDTH * math.sqrt(2))


def test_each_suite_takes_the_time_of_its_own_framework() -> None:
    run = run_of(measured("add", 1.0, "torch"), measured("add", 3.0, "jax"))
    same = suite("a", ("add", 2, "Net"))
    change = change_between(same, same, run, ("torch", "jax"))
    assert (change.rows[0].before, change.rows[0].after) == (Part(2, 2, 2.0), Part(2, 2, 6.0))


def test_calls_without_a_record_are_counted_and_have_no_time() -> None:
    both = suite("a", ("torch:torch.relu", 2, "Net"), ("torch:torch.exp", 7, "Net"))
    change = change_between(both, both, run_of(measured("torch:torch.relu", 1.0, wide=False)), (None, None))
    assert change.whole.before == Part(9, 2, 2.0)
    assert change.interval is None
