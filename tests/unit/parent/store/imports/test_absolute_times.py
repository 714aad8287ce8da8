"""The run that another tool's times amount to."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from tests.each import each

from opperf.parent.store.imports.absolute_times import Sheet, absolute_run


@each(
    ("zone", "expected"),
    [(timezone.utc, "2026-11-23T12:00:00+00:00"), (timezone(timedelta(hours=2)), "2026-11-23T12:00:00+02:00")],
)
def test_a_moment_keeps_its_zone(zone: timezone, expected: str) -> None:
    moment = datetime(2026, 11, 23, 12, tzinfo=zone)
    assert absolute_run("a_tool", Sheet("x"), "x", version="1", started=moment, machine={}).run.started == expected
