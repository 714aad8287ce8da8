"""What runs in a call of the null framework: the script itself, and the kernel that is said to carry it out."""

from __future__ import annotations

from collections.abc import Callable

from opperf.domain.backend import Work
from opperf.domain.explanation import Event, Explanation


def of_calls(work: Work, calls: int, clock: Callable[[], int], slowdown: str) -> list[Explanation]:
    """Return what ran in each of `calls` calls; another slowdown is another kernel."""
    name = getattr(work.function, "__name__", "script")
    by = "scripted" if slowdown == "1" else f"scripted:{slowdown}"
    calls_events = []
    for _ in range(calls):
        start = clock()
        work.function(*work.arguments, **work.keywords)
        seconds = (clock() - start) / 1e9
        calls_events.append(Explanation((Event(name, "operator", 1, 0.0), Event("script", "kernel", 1, seconds, by))))
    return calls_events
