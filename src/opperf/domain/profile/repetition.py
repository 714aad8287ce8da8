"""The steps of a program that marks none, from what repeats in it; what comes before the first is initialisation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import RECOMPUTATION, Event, Profile, in_time, parents

#: Spans of PyTorch that last a step each, where a program runs its profiler with a schedule.
STEP = re.compile(r"ProfilerStep[#*]")
#: What a step of training ends with, in PyTorch.
OPTIMIZER = re.compile(r"Optimizer\.step#")
#: Spans that repeat within a step, too.
WITHIN = re.compile(rf"Optimizer\.|autograd::|ProfilerStep|{RECOMPUTATION}")
#: Fewer spans of a name are no loop.
LEAST = 3


@dataclass(frozen=True)
class Course:
    """How the steps of a process went, in seconds: how many, the `median` of all, and the `first`.

    `others` is the median of all but the first, None where there are none. `initialisation` is what lies before the
    first step, and `share` its part of the time from the first span of the process to the end of its last.
    """

    process: int
    count: int
    median: float
    first: float
    others: float | None
    initialisation: float
    share: float


def courses(profile: Profile) -> tuple[Course, ...]:
    """Return how the steps of each process went that has any, by the process's number."""
    by_process: dict[int, list[Event]] = defaultdict(list)
    for step in sorted(steps(profile), key=in_time):
        if step.duration:
            by_process[step.process].append(step)
    return tuple(
        _course(profile, [event for event in profile.events if event.process == process], course_steps)
        for process, course_steps in sorted(by_process.items())
    )


def _course(profile: Profile, events: Sequence[Event], course_steps: Sequence[Event]) -> Course:
    begin, end = min(event.begin for event in events), max(event.end for event in events)
    durations = [step.duration / 1e9 for step in course_steps]
    process = course_steps[0].process
    before = profile.watched(begin, course_steps[0].begin, process)
    return Course(
        process=process,
        count=len(course_steps),
        median=median(durations),
        first=durations[0],
        others=median(durations[1:]) if durations[1:] else None,
        initialisation=before / 1e9,
        share=before / (profile.watched(begin, end, process) or end - begin),
    )


def steps(profile: Profile) -> tuple[Event, ...]:
    """Return the steps that the program marks; else those told by what repeats in each of its processes.

    In this order: PyTorch's `ProfilerStep`, steps of an optimizer, the outermost module or range that takes most of
    the time of its process and comes again and again.
    """
    if marks := profile.of_kind("step"):
        return marks
    processes: dict[int, list[Event]] = defaultdict(list)
    for event in sorted(profile.events, key=in_time):
        processes[event.process].append(event)
    return tuple(step for events in processes.values() for step in _of_process(events))


def _of_process(events: Sequence[Event]) -> list[Event]:
    if own := [event for event in events if STEP.match(event.name)]:
        return [_step(place, event, event.begin, event.end) for place, event in enumerate(own)]
    above = parents(events)
    places = [place for place, event in enumerate(events) if OPTIMIZER.match(event.name)]
    if len(places) < 2:
        return _of_loop(events, above)
    ends = [events[place] for place in places]
    beside = [event for event, outer in zip(events, above) if outer == above[places[0]]]
    begins = [_first_begin([one for one in beside if one.thread == ends[0].thread], ends), *(end.end for end in ends)]
    return [_step(place, event, begin, event.end) for place, (event, begin) in enumerate(zip(ends, begins))]


def _first_begin(beside: Sequence[Event], ends: Sequence[Event]) -> int:
    """Return when the first step began, as the second one tells: with the same span, as often before its end."""
    second = [event.name for event in beside if ends[0].end <= event.begin < ends[1].end]
    alike = [event.begin for event in beside if event.begin < ends[0].end and event.name == second[0]]
    return alike[max(0, len(alike) - second.count(second[0]))] if alike else ends[0].begin


def _of_loop(events: Sequence[Event], above: Sequence[int | None]) -> list[Event]:
    """Return a step from each beginning of the outermost span that repeats to the next one."""
    keys = [(event.thread, event.name) if _may_be_a_step(event) else None for event in events]
    calls = Counter(keys)
    often = [key is not None and calls[key] >= LEAST for key in keys]
    outermost: dict[tuple[str, str] | None, list[Event]] = defaultdict(list)
    for place, event in enumerate(events):
        if often[place] and not any(often[outer] for outer in _enclosing_spans(place, above)):
            outermost[keys[place]].append(event)
    if not outermost:
        return []
    longest = max(outermost.values(), key=lambda loop: sum(event.duration for event in loop))
    begins = [event.begin for event in longest]
    # The last one lasts as long as the others do, unless the program ends before.
    length = int(median(after - before for before, after in pairwise(begins))) if len(begins) > 1 else 0
    last = max(longest[-1].end, min(begins[-1] + length, max(event.end for event in events)))
    return [_step(place, event, *ends) for place, (event, ends) in enumerate(zip(longest, pairwise([*begins, last])))]


def _may_be_a_step(event: Event) -> bool:
    return event.kind in ("module", "task") and not event.recomputed and not WITHIN.match(event.name)


def _enclosing_spans(place: int, above: Sequence[int | None]) -> Iterator[int]:
    """Yield the places of the spans around one, from the inside."""
    outer = above[place]
    while outer is not None:
        yield outer
        outer = above[outer]


def _step(place: int, event: Event, begin: int, end: int) -> Event:
    return Event(f"step {place}", "step", begin, end - begin, event.process, event.thread)
