"""A recorded workload and its replay: operators with their inputs, how often each ran, and what each costs.

Times are seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import NamedTuple, Optional, TypeAlias, TypedDict

from opperf.domain.case import Case
from opperf.domain.codec import decode, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.record import Record, Run
from opperf.domain.suite import LeftOut, Suite, SuiteCase
from opperf.domain.type_hint import Count


@dataclass(frozen=True)
class TracedCase:
    """A case of a trace. `recorded` is what all `count` calls took when they were recorded, if that is known."""

    case: Case
    count: Count
    recorded: float | None = None


@dataclass(frozen=True)
class Between:
    """For how long no operator ran on any thread, of the `span` from the first call's beginning to the last one's end.

    That is Python, the bookkeeping of gradients, waiting for data, and what a recorder adds between calls.
    """

    seconds: float
    span: float


@dataclass(frozen=True)
class Device:
    """How long a device worked while a trace of times was recorded, and how much of that the calls launched."""

    seconds: float
    of_calls: float


class Spent(NamedTuple):
    """How often an operator ran at a place, and the seconds that it took without the operators that it called."""

    calls: int = 0
    seconds: float = 0.0


#: Where an operator ran: the names of what was around it, from the outside, and its own; each a `label` or `operator`.
Way: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Trace:
    """The operators of one or several trace files, in the order in which each first ran.

    Recorded times are by the `clock` of the `host`, or of a `device`: then they are those of the work on it. `joined`
    says which of the calls the trace of times has. `between` is known where that has all of them, once; `device` where
    that has work on a device. `assumed` are operators with arguments that were not recorded and have their
    defaults, and how often each ran. `ways` are those to all operators, where they were asked for.
    """

    source: str
    cases: tuple[TracedCase, ...]
    left_out: tuple[LeftOut, ...] = ()
    clock: str = "host"
    joined: str | None = None
    between: Between | None = None
    device: Device | None = None
    assumed: tuple[tuple[str, tuple[str, ...], int], ...] = ()
    ways: Mapping[Way, Spent] = field(default_factory=dict)

    @property
    def has_recorded(self) -> bool:
        """Whether it is known of any call how long it took when it was recorded."""
        return any(entry.recorded is not None for entry in self.entries)

    @property
    def entries(self) -> tuple[TracedCase | LeftOut, ...]:
        """Everything that ran: what is run again and what is not."""
        return (*self.cases, *self.left_out)

    def suite(self, *, costly_first: bool = False) -> Suite:
        """Return the cases as a suite, which can be kept in a file.

        With `costly_first` what probably takes most stands first: by recorded time, else by the bytes of all calls.
        """
        origin = f"trace:{self.source}"
        entries = sorted(self.cases, key=_cost, reverse=True) if costly_first else self.cases
        cases = (SuiteCase(entry.case, entry.count, origin, ("forward",)) for entry in entries)
        return Suite(self.source, origin, tuple(cases), left_out=self.left_out)


def _cost(entry: TracedCase) -> tuple[float, float]:
    return entry.recorded or 0.0, float(entry.count * entry.case.input_bytes)


@dataclass(frozen=True)
class ReplayedCase:
    """One case of a trace, and its record where it was measured."""

    traced: TracedCase
    record: Record | None

    @property
    def total(self) -> float | None:
        """Standalone time of all calls: the median of one, times their number."""
        time = None if self.record is None else self.record.time
        return None if time is None else time.value * self.traced.count


class Coverage(TypedDict):
    """How much of a trace was measured, by calls and by recorded time, and both times of that part; None is unknown."""

    calls: int
    measured_calls: int
    share_of_calls: float | None
    left_out_calls: int
    left_out_recorded: float | None
    recorded: float | None
    measured_recorded: float | None
    share_of_time: float | None
    between: float | None
    span: float | None
    clock: str | None
    device: float | None
    device_of_calls: float | None
    standalone: float
    ratio: float | None


@dataclass(frozen=True)
class Replay:
    """A trace that was run again, operator by operator."""

    trace: Trace
    run: Run

    @cached_property
    def calls(self) -> tuple[ReplayedCase, ...]:
        """The cases, the most expensive first, those without a measurement last."""
        records = {record.trial.case.id: record for record in self.run.records}
        calls = [ReplayedCase(entry, records.get(entry.case.id)) for entry in self.trace.cases]
        return tuple(sorted(calls, key=lambda entry: -(entry.total or 0.0)))

    @cached_property
    def total(self) -> float:
        """Standalone time of all measured calls."""
        return sum(entry.total or 0.0 for entry in self.calls)

    def coverage(self) -> Coverage:
        """Return how much of the trace was measured, by calls and by recorded time, and both times of that part.

        Times that no Kineto trace gave are None.
        """
        timed_calls = [entry for entry in self.calls if entry.total is not None]
        counts = [entry.count for entry in self.trace.entries]
        total_before = _sum(entry.recorded for entry in self.trace.entries)
        both = [entry for entry in timed_calls if entry.traced.recorded is not None]
        again = _sum(entry.traced.recorded for entry in both)
        alone = _sum(entry.total for entry in both)
        calls = sum(entry.traced.count for entry in timed_calls)
        left_out, between, device = self.trace.left_out, self.trace.between, self.trace.device
        return {
            "calls": sum(counts),
            "measured_calls": calls,
            "share_of_calls": calls / sum(counts) if counts else None,
            "left_out_calls": sum(entry.count for entry in left_out),
            "left_out_recorded": _sum(entry.recorded for entry in left_out),
            "recorded": total_before,
            "measured_recorded": again,
            "share_of_time": again / total_before if again is not None and total_before else None,
            "between": None if between is None else between.seconds,
            "span": None if between is None else between.span,
            "clock": None if total_before is None else self.trace.clock,
            "device": None if device is None else device.seconds,
            "device_of_calls": None if device is None else device.of_calls,
            "standalone": self.total,
            "ratio": alone / again if alone is not None and again else None,
        }

    @classmethod
    def from_json(cls, data: JsonObject, where: str) -> Replay:
        """Read the document: the run, and what it has of its trace; raises `InputError` that names the place."""
        run = Run.from_json(data, where)
        cases: Mapping[object, Case] = {record.trial.case.id: record.trial.case for record in run}
        calls = read_as(tuple[Mapping[str, object], ...], data.get("calls"), f"{where}: calls")
        coverage = read_as(Mapping[str, object], data.get("coverage"), f"{where}: coverage")
        clock = read_as(Optional[str], coverage.get("clock"), f"{where}: coverage.clock")
        between, span, device, of_calls = (
            read_as(Optional[float], coverage.get(name), f"{where}: coverage.{name}")
            for name in ("between", "span", "device", "device_of_calls")
        )
        trace = Trace(
            read_as(str, data.get("source"), f"{where}: source"),
            tuple(
                decode(TracedCase, call, f"{where}: calls[{i}]", case=cases[call.get("case")])
                for i, call in enumerate(calls)
                if call.get("case") in cases
            ),
            read_as(tuple[LeftOut, ...], data.get("left_out"), f"{where}: left_out"),
            clock or "host",
            None,
            None if between is None or span is None else Between(between, span),
            None if device is None else Device(device, of_calls or 0.0),
        )
        return cls(trace, run)

    def to_json(self) -> dict[str, object]:
        """Return the document: that of the run, with what the trace adds."""
        return {
            **self.run.to_json(),
            "source": self.trace.source,
            "coverage": self.coverage(),
            "calls": self.rows(),
            "left_out": [entry.to_json() for entry in self.trace.left_out],
        }

    def rows(self) -> list[Mapping[str, object]]:
        """Return one row for each case: calls, standalone time of one and of all, shares, and the recorded time."""
        result: list[Mapping[str, object]] = []
        sum_so_far = 0.0
        for entry in self.calls:
            sum_so_far += entry.total or 0.0
            time = None if entry.record is None else entry.record.time
            alone, before = entry.total, entry.traced.recorded
            result.append(
                {
                    "case": entry.traced.case.id,
                    "count": entry.traced.count,
                    "time": None if time is None else time.median,
                    "total": alone,
                    "share": alone / self.total if alone is not None and self.total else None,
                    "cumulative": sum_so_far / self.total if alone is not None and self.total else None,
                    "recorded": before,
                    "ratio": alone / before if alone is not None and before else None,
                }
            )
        return result


def _sum(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values, None if there are none."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None
