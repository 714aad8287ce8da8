"""How many tokens or samples a program works through in a second, and what share of the machine's peak it reaches."""

from __future__ import annotations

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Profile
from opperf.domain.profile.repetition import courses, steps
from opperf.domain.profile.rows import PEAK


@dataclass(frozen=True)
class Pace:
    """The pace of a process whose steps take `tokens` each: in a second, in the median step.

    `flops` are the floating-point operations of a step that are counted, products and convolutions, `flop_rate` those
    of a second; `peak_share` is the part of the fastest float32 product's rate that this is. None where unknown.
    """

    process: int
    tokens: int
    per_second: float
    flops: float | None
    flop_rate: float | None
    peak_share: float | None


def paces(profile: Profile, tokens: int) -> tuple[Pace, ...]:
    """Return the pace of each process that has steps, each of `tokens` tokens or samples.

    >>> from opperf.domain.profile.event import Event
    >>> spans = [Event(f"s{i}", "step", 100 * i, 100, 1, "main") for i in range(3)]
    >>> [round(pace.per_second) for pace in paces(Profile(tuple(spans)), 5)]
    [50000000]
    """
    spans = steps(profile)
    result = []
    for course in courses(profile):
        mine = [step for step in spans if step.process == course.process and step.duration]
        begin, end = min(step.begin for step in mine), max(step.end for step in mine)
        counts = [
            event.flops
            for event in profile.of_kind("operator")
            if event.flops and event.process == course.process and begin <= event.begin < end
        ]
        flops = sum(counts) / len(mine) if counts else None
        rate = None if flops is None else flops / course.median
        peak = profile.processes.get(course.process, {}).get(PEAK)
        share = rate / peak if rate is not None and isinstance(peak, (int, float)) and peak > 0 else None
        result.append(Pace(course.process, tokens, tokens / course.median, flops, rate, share))
    return tuple(result)
