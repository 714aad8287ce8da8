"""The run that another tool's times amount to."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from tests.each import each

from opperf.parent.store.imports.absolute_times import absolute_run


@each(
    ("zone", "expected"),
    [(None, "2026-11-23T12:00:00+00:00"), (timezone(timedelta(hours=2)), "2026-11-23T12:00:00+02:00")],
)
def test_a_moment_without_a_zone_is_one_of_utc(zone: timezone | None, expected: str) -> None:
    moment = datetime(2026, 11, 23, 12, tzinfo=zone)
    assert absolute_run("a_tool", [], version="1", started=moment, machine={}).started == expected
