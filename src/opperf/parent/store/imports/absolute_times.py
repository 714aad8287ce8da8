"""Times that another tool measured, as a run of records.

They are absolute: another machine, or the same one on another day, moves them, and no pair of processes stands behind
them. Every record says so in a warning, and every run in a label. What the tool does not state is null, and what has no
place in a record is counted by reason, so that nothing is made up and nothing lost in silence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from hashlib import sha256
from statistics import fmean, median, stdev

from opperf.domain.case import Argument, Case, ListOf
from opperf.domain.codec import encode, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonDict, NotJSON, value_of
from opperf.domain.moment import moment_of
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.stats.order import quantile
from opperf.domain.type_hint import Amount, wrong

#: The label that says which tool measured the times of a run.
LABEL = "imported"
#: The longest time of a call, in seconds: thirty years. Sums and ratios of longer ones are no numbers any more.
LONGEST = 1e9
#: The most rows of one run. A record takes some kilobytes, a row of a file a few bytes.
MOST_ROWS = 100_000


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
    """What a tool states of how long a call took, in seconds: a median or a mean, and what else it states."""

    median: float | None = None
    mean: float | None = None
    least: float | None = None
    most: float | None = None
    p90: float | None = None
    p99: float | None = None
    stdev: float | None = None
    interval: tuple[float, float] | None = None
    samples: int | None = None
    calls: int | None = None

    @classmethod
    def of(cls, times: Sequence[float]) -> Spread:
        """Return the summary of samples."""
        in_order = sorted(times)
        return cls(
            median=median(times),
            mean=fmean(times),
            least=in_order[0],
            most=in_order[-1],
            p90=quantile(in_order, 0.9),
            p99=quantile(in_order, 0.99),
            stdev=stdev(times) if len(times) > 1 else None,
            samples=len(times),
        )


class Sheet:
    """The rows of a file as they are read: no more than are kept, with a count by reason of what is left out."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.timings: list[Timing] = []
        self.left_out: Counter[str] = Counter()

    def add(self, timing: Timing) -> None:
        """Add a row; raises `InputError` for one too many."""
        if len(self.timings) == MOST_ROWS:
            raise InputError(f"{self._where}: over {MOST_ROWS:,} results, expected fewer in one run", slug="bad_value")
        self.timings.append(timing)

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count what has no place in a record."""
        if count:
            self.left_out[reason] += count


@dataclass(frozen=True)
class Foreign:
    """A run of another tool, and what of its file has no place in it, counted by reason."""

    run: Run
    left_out: Mapping[str, int] = field(default_factory=dict)


def seconds(value: object, where: str, *, unit: float = 1.0) -> float:
    """Return a time in seconds that stands in a file in units of so many of them; raises `InputError`.

    >>> seconds(2.5, "x.json: time", unit=1e-3)
    0.0025
    """
    time = float(read_as(Amount, value, where)) * unit
    if time > LONGEST:
        raise wrong(value, where, f"a time of at most {LONGEST:g} s")
    return time


def json_argument(value: object) -> Argument:
    """Return an argument as it was written: a shape is a list of numbers, since no tensor's element type is known."""
    if isinstance(value, list):
        return ListOf(tuple(map(json_argument, value)))
    return value if value is None or isinstance(value, (bool, int, float, str)) else json.dumps(value)


def record_document(tool: str, version: str, timing: Timing) -> JsonDict:
    """Return the record that a time amounts to, in JSON form."""
    return _record(tool, Side(tool, version), version, timing).to_json()


def absolute_run(
    tool: str,
    sheet: Sheet,
    where: str,
    *,
    framework: str | None = None,
    version: str,
    started: datetime | None,
    machine: Mapping[str, object],
) -> Foreign:
    """Return the run that a tool's times amount to; the same times are the same run, however often they come.

    It is read back as a file of opperf would be, so what is stored can be shown; raises `InputError`.
    """
    side = Side(framework or tool, version)
    moment = started or moment_of(0)
    assert moment is not None
    records = tuple(_record(tool, side, version, timing) for timing in sheet.timings)
    content = repr((tool, version, moment.isoformat(), [encode(record) for record in records]))
    run = Run(
        id=sha256(content.encode()).hexdigest()[:12],
        started=moment.isoformat(),
        command=(tool,),
        settings=Settings(),
        labels={LABEL: tool},
        environment={"machine": {name: value for name, value in machine.items() if value is not None}},
        records=records,
    )
    try:
        document = value_of(json.dumps(run.to_json()).encode())
    except NotJSON as error:
        raise InputError(f"{where}: the run that it amounts to is beyond every file: {error}", slug="input") from error
    return Foreign(Run.from_json(document, where), sheet.left_out)


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
    return Statistics(
        mean=time.mean,
        median=time.median,
        p90=time.p90,
        p99=time.p99,
        min=time.least,
        max=time.most,
        stdev=time.stdev,
        interval=time.interval,
        interval_reason=None if time.interval else f"{tool} states none",
        precision=None,
        samples=time.samples,
        calls_per_sample=time.calls,
        discarded=None,
        processes=None,
    )
