"""Times that another tool measured, as a run of records.

They are absolute: another machine, or the same one on another day, moves them, and no pair of processes stands behind
them. Every record says so in a warning, and every run in a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timezone
from hashlib import sha256
from statistics import fmean, median, stdev

from opperf.domain.case import Argument, Case
from opperf.domain.codec import encode
from opperf.domain.dataclass import dataclass
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Run, Statistics

#: The label that says which tool measured the times of a run.
LABEL = "imported"


@dataclass(frozen=True)
class Timing:
    """What a benchmark took, in seconds; None where it failed. `interval` is the tool's own, at its own confidence."""

    name: str
    time: Spread | None
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    direction: str = "forward"
    device: str = "cpu"


@dataclass(frozen=True)
class Spread:
    """What is known of how long a call took, in seconds."""

    median: float
    mean: float | None = None
    least: float | None = None
    most: float | None = None
    p90: float | None = None
    p99: float | None = None
    stdev: float = 0.0
    interval: tuple[float, float] | None = None
    samples: int = 1
    calls: int = 1

    @classmethod
    def of(cls, times: Sequence[float]) -> Spread:
        """Return the summary of samples."""
        deviation = stdev(times) if len(times) > 1 else 0.0
        return cls(median(times), fmean(times), min(times), max(times), stdev=deviation, samples=len(times))


def absolute_run(
    tool: str,
    timings: Sequence[Timing],
    *,
    framework: str | None = None,
    version: str,
    started: datetime | None,
    machine: Mapping[str, object],
    labels: Mapping[str, str] | None = None,
) -> Run:
    """Return the run that a tool's times amount to; the same times are the same run, however often they come."""
    side = Side(framework or tool, version)
    moment = started or datetime.fromtimestamp(0, timezone.utc)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    records = tuple(_record(tool, side, version, timing) for timing in timings)
    content = repr((tool, version, moment.isoformat(), [encode(record) for record in records]))
    return Run(
        id=sha256(content.encode()).hexdigest()[:12],
        started=moment.isoformat(),
        command=(tool,),
        settings=Settings(),
        labels={LABEL: tool, **(labels or {})},
        environment={"machine": dict(machine)},
        records=records,
    )


def _record(tool: str, side: Side, version: str, timing: Timing) -> Record:
    trial = Trial(
        Case(timing.name, {}, dict(timing.arguments)),
        Side(side.framework, side.environment, timing.device),
        timing.direction,
    )
    facts = {"implementation": timing.name, "version": version, LABEL: tool}
    if timing.time is None:
        return Record(trial, "failed", Reason("imported", f"{tool} has no time for it"), facts=facts)
    text = f"an absolute time that {tool} measured: it varies with the machine and the day"
    warning = Warning("absolute_time", text, "compare builds with `opperf compare`")
    return Record(trial, "ok", metrics={"time": _statistics(tool, timing.time)}, warnings=(warning,), facts=facts)


def _statistics(tool: str, time: Spread) -> Statistics:
    def or_median(value: float | None) -> float:
        return time.median if value is None else value

    return Statistics(
        mean=or_median(time.mean),
        median=time.median,
        p90=or_median(time.p90),
        p99=or_median(time.p99),
        min=or_median(time.least),
        max=or_median(time.most),
        stdev=time.stdev,
        interval=time.interval,
        interval_reason=None if time.interval else f"{tool} states none",
        precision=None,
        samples=time.samples,
        calls_per_sample=time.calls,
        discarded=0,
        processes=1,
    )
