"""How many threads are seen, by clocks that say what the test has them say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from opperf.child.backends.common import threads
from opperf.domain.plan import Side


@pytest.mark.parametrize(
    ("told", "looks", "threads_seen"),
    [
        (1, [1.0], 1.0),
        (2, [1.93], 1.93),
        (1, [0.6, 0.98], 0.98),
        (1, [2.0, 1.9, 1.8], 2.0),
        (1, [0.5, 1.4, 0.7], 1.4),
    ],
)
def test_threads_are_looked_for_three_times_unless_a_look_sees_those_that_were_told(
    told: int, looks: Sequence[float], threads_seen: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares, now = iter([0.0, *looks]), {"wall": 0, "cpu": 0}  # the first call is watched by nobody

    def call() -> None:
        now["wall"] += threads.WATCHED_NS
        now["cpu"] += round(threads.WATCHED_NS * next(shares))

    monkeypatch.setattr(threads, "perf_counter_ns", lambda: now["wall"])
    monkeypatch.setattr(threads, "process_time_ns", lambda: now["cpu"])
    assert threads.count(call, Side("null", threads=told)) == threads_seen
    assert [*shares] == []
