"""Two suites beside each other: what each module's operators take in both, and the ratio of the whole.

A row has the calls of one group of operators in one module. Modules are matched by their place in the model, the origin
of their cases, and groups by what kind of operator they hold; what only one suite has stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.operator_group import group_of
from opperf.domain.record import Record, Run
from opperf.domain.registry import runs_on, split_implementation
from opperf.domain.stats.significance import Estimate
from opperf.domain.suite import Suite, SuiteCase


@dataclass(frozen=True)
class Part(Fields):
    """The calls of one suite in a row: how many, how many of them were measured, and the seconds of those."""

    calls: int = 0
    measured: int = 0
    time: float = 0.0

    def plus(self, calls: int, seconds: float | None) -> Part:
        """Return it with more calls."""
        if seconds is None:
            return replace(self, calls=self.calls + calls)
        return Part(self.calls + calls, self.measured + calls, self.time + calls * seconds)


@dataclass(frozen=True)
class Row(Fields):
    """What one group of operators takes in one module, before and after."""

    module: str
    group: str
    before: Part = Part()
    after: Part = Part()

    @property
    def difference(self) -> float:
        """Seconds that it takes more after than before."""
        return self.after.time - self.before.time

    @property
    def ratio(self) -> float | None:
        """After over before; None where one of them has no time."""
        return self.after.time / self.before.time if self.before.time and self.after.time else None

    @property
    def only(self) -> str:
        """The suite that alone has such calls, empty where both do."""
        if not self.before.calls or not self.after.calls:
            return "after" if self.after.calls else "before"
        return ""


@dataclass(frozen=True)
class SuiteChange:
    """Two suites that were measured together in `run`; `interval` is the 95 % one of the ratio of their sums.

    It is None where a measured case has no interval over processes.
    """

    run: Run
    before: Suite
    after: Suite
    rows: tuple[Row, ...]
    interval: tuple[float, float] | None

    @property
    def whole(self) -> Row:
        """All calls of both suites."""
        return Row("", "", *_sums(self.rows))

    def to_json(self) -> dict[str, object]:
        """Return the document: the run, and what its records amount to."""
        change = {
            "before": self.before.name,
            "after": self.after.name,
            "ratio": self.whole.ratio,
            "interval": None if self.interval is None else list(self.interval),
            "rows": [row.to_json() for row in self.rows],
        }
        return {**self.run.to_json(), "suite_change": change}


def by_group(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the sums of all modules, by group, the largest differences first."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    sums = (Row("", name, *_sums(several)) for name, several in groups.items())
    return tuple(sorted(sums, key=lambda row: -abs(row.difference)))


def _sums(rows: Sequence[Row]) -> tuple[Part, Part]:
    return _sum(row.before for row in rows), _sum(row.after for row in rows)


def _sum(parts: Iterable[Part]) -> Part:
    several = list(parts)
    times = math.fsum(part.time for part in several)
    return Part(sum(part.calls for part in several), sum(part.measured for part in several), times)


def change_between(before: Suite, after: Suite, run: Run, sides: tuple[str | None, str | None]) -> SuiteChange:
    """Match two suites by the records of both; `sides` are the frameworks of neutral operators.

    The largest differences come first.
    """
    records: dict[tuple[str, str], list[Record]] = {}
    for record in run.records:
        if record.time is not None:
            records.setdefault((record.trial.case.id, record.trial.direction), []).append(record)
    rows: dict[tuple[str, str], Row] = {}
    calls: dict[int, list[float]] = {id(record): [0.0, 0.0] for several in records.values() for record in several}
    for place, (suite, framework) in enumerate(zip((before, after), sides)):
        for entry in suite.cases:
            key = entry.origin, group_of(entry.case.operator)
            row = rows.get(key, Row(*key))
            measured = _records(entry, framework, records)
            for record in measured:
                calls[id(record)][place] += entry.count
            seconds = math.fsum(map(_seconds, measured)) if measured else None
            parts = [row.before, row.after]
            parts[place] = parts[place].plus(entry.count, seconds)
            rows[key] = Row(*key, *parts)
    ordered = tuple(sorted(rows.values(), key=lambda row: -abs(row.difference)))
    each = [(one, (calls[id(one)][0], calls[id(one)][1])) for several in records.values() for one in several]
    return SuiteChange(run, before, after, ordered, _interval(each))


def directions_of(entry: SuiteCase) -> tuple[str, ...]:
    """Return the directions in which a case of a suite is measured: forward, unless it says others."""
    return entry.directions or ("forward",)


def _records(
    entry: SuiteCase, framework: str | None, records: Mapping[tuple[str, str], Sequence[Record]]
) -> list[Record]:
    """Return the records of a case, one for each of its directions; none where one was not measured."""
    owner = split_implementation(entry.case.operator)[0]
    matches = [
        next((one for one in records.get((entry.case.id, direction), ()) if _is_of(one, owner, framework)), None)
        for direction in directions_of(entry)
    ]
    measured = [match for match in matches if match is not None]
    return measured if len(measured) == len(matches) else []


def _is_of(record: Record, owner: str | None, framework: str | None) -> bool:
    name = record.trial.side.framework
    is_free = owner is not None and not (framework and runs_on(framework, owner))
    return runs_on(name, owner) if is_free else name == framework


def _seconds(record: Record) -> float:
    return 0.0 if record.time is None else record.time.value


def _interval(calls: Sequence[tuple[Record, tuple[float, float]]]) -> tuple[float, float] | None:
    """Return the interval of the ratio of two sums; None where a record in them has no interval.

    Errors of different records are independent. What is in both sums moves both, so that it hardly moves the ratio:
    each record counts by how much more of one sum it is than of the other.
    """
    used = [(one, counts) for one, counts in calls if any(counts)]
    before, after = (math.fsum(_seconds(one) * counts[side] for one, counts in used) for side in (0, 1))
    if not before or not after:
        return None
    errors = []
    for record, counts in used:
        if record.time is None or record.time.interval is None:
            return None
        share = record.time.value * (counts[1] / after - counts[0] / before)
        errors.append(share * Estimate.of(record.time.value, record.time.interval).error)
    return Estimate(math.log(after / before), math.hypot(*errors)).interval()
