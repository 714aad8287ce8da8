"""How long operators took, read from the profiler's own summary, of which only counts and totals are used.

Times of single events are whole microseconds, so short operators want several calls in one summary.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from opperf.domain.explanation import Event
from opperf.domain.profile.mxnet_names import DOMAINS, NO_OPERATORS, PYTHON_PART

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def operators(text: str) -> list[Event]:
    """Return the operators of the profiler's own summary in JSON."""
    document = json.loads(text)
    unit = UNITS[document["Unit"]["Time"]]
    return [
        Event(name, "operator", one["Count"], one["Total"] * unit)
        for domain in DOMAINS
        for name, one in document["Time"].get(domain, {}).items()
        if name.rpartition("::")[2] not in NO_OPERATORS
    ]


def seconds(events: Sequence[Event], *, nested: bool) -> float:
    """Return the time of all operators together.

    With `nested` the Python part of a custom operator contains what the custom one called, as in the naive engine.

    >>> seconds([Event("A::pure_python", "operator", 1, 3.0), Event("A::dot", "operator", 1, 2.0)], nested=True)
    3.0
    """
    custom = {event.name.removesuffix(PYTHON_PART) for event in events if event.name.endswith(PYTHON_PART)}
    outer_events = (event for event in events if not (nested and _inner(event.name, custom)))
    return sum(event.seconds or 0.0 for event in outer_events)


def _inner(name: str, custom: set[str]) -> bool:
    """Whether an operator ran within the Python part of a custom one."""
    return name.rpartition("::")[0] in custom and not name.endswith(PYTHON_PART)
