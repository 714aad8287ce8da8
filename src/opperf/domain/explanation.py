"""What ran in one call of a trial, according to its framework's own profiler."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.stats.order import median

#: `operator` is the framework's own inner operator, `primitive` one of a numerical library (oneDNN, MKL), `kernel` what
#: was compiled or launched: a CUDA kernel, an instruction of a compiled program, a vectorized loop.
KINDS = ("operator", "primitive", "kernel")


@dataclass(frozen=True)
class Event(Fields):
    """Something that ran. `by` is the implementation of `name` if known (`jit:avx512_core`).

    `calls` and `seconds` are of one call of the trial. `seconds` is its own time, without what it called, under a
    profiler; None where only the program was looked at.
    """

    name: str
    kind: str
    calls: float
    seconds: float | None
    by: str | None = None


@dataclass(frozen=True)
class Explanation(Fields):
    """The events of a call, and what else tells one build from another (`BLAS scipy-openblas 0.3.30`)."""

    events: tuple[Event, ...]
    notes: tuple[str, ...] = ()


def together(events: Iterable[Event]) -> list[Event]:
    """Return each name and implementation once, with its calls and seconds summed, in order of appearance.

    >>> together([Event("mm", "operator", 1, 2.0), Event("mm", "operator", 1, 3.0)])
    [Event(name='mm', kind='operator', calls=2, seconds=5.0, by=None)]
    """
    events_by_name: dict[tuple[str, str, str | None], Event] = {}
    for event in events:
        key = (event.kind, event.name, event.by)
        same = events_by_name.get(key)
        if same is None:
            events_by_name[key] = event
            continue
        both = None if same.seconds is None or event.seconds is None else same.seconds + event.seconds
        events_by_name[key] = replace(same, calls=same.calls + event.calls, seconds=both)
    return list(events_by_name.values())


def typical(calls: Sequence[Explanation]) -> Explanation:
    """Return the explanation of one call from one or more explanations.

    An event's time is its median over the calls that it ran in: a call that the machine disturbed is outvoted.

    >>> seen = [Explanation((Event("mm", "operator", 1, seconds),)) for seconds in (2.0, 9.0, 3.0)]
    >>> typical(seen).events
    (Event(name='mm', kind='operator', calls=1.0, seconds=3.0, by=None),)
    """
    events_by_name: dict[tuple[str, str, str | None], list[Event]] = {}
    for call in calls:
        for event in together(call.events):
            events_by_name.setdefault((event.kind, event.name, event.by), []).append(event)
    return Explanation(tuple(_typical(events, len(calls)) for events in events_by_name.values()), calls[0].notes)


def _typical(events: Sequence[Event], calls: int) -> Event:
    """Return an event of an average call; `events` are those of the calls that it ran in."""
    times = [event.seconds for event in events if event.seconds is not None]
    seconds = median(times) * len(events) / calls if times else None
    return replace(events[0], calls=sum(event.calls for event in events) / calls, seconds=seconds)
