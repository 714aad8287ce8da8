"""How many threads are seen, by clocks that say what the test has them say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from opperf.child.backends.common import threads


@pytest.mark.parametrize(("looks", "threads_seen"), [([0.6, 0.98, 0.9], 0.98), ([1.0, 1.9, 1.8], 1.9)])
def test_the_best_of_three_looks_says_how_many_threads_there_are(
    looks: Sequence[float], threads_seen: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares, now = iter([0.0, *looks]), {"wall": 0, "cpu": 0}  # the first call is watched by nobody

    def call() -> None:
        now["wall"] += threads.WATCHED_NS
        now["cpu"] += round(threads.WATCHED_NS * next(shares))

    monkeypatch.setattr(threads, "perf_counter_ns", lambda: now["wall"])
    monkeypatch.setattr(threads, "process_time_ns", lambda: now["cpu"])
    assert threads.count(call) == threads_seen
    assert [*shares] == []
