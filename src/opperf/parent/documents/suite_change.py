"""Two suites beside each other: what each module's operators take in both, and the verdict on the whole.

A row has the calls of one group of operators in one module. Modules are matched by their place in the model, and groups
by what kind of operator they hold; what only one suite has stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated

from opperf.domain.codec import Fields, decode
from opperf.domain.dataclass import dataclass
from opperf.domain.record import Run
from opperf.domain.type_hint import Amount, LogRatio, Natural, OneOf, Positive
from opperf.parent.documents.comparison import Verdict

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Part(Fields):
    """The calls of one suite in a row: how many, how many of them were measured, and the seconds of those."""

    calls: Natural = 0
    measured: Natural = 0
    time: Amount = 0.0


@dataclass(frozen=True)
class Row(Fields):
    """The calls of one group of operators in one module, before and after.

    `interval` is the 95 % interval of their ratio over pairs of processes; None where only one suite has such calls.
    """

    module: str
    group: str
    before: Part = Part()
    after: Part = Part()
    interval: tuple[Positive, Positive] | None = None

    beside = ("ratio",)

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
            return AFTER if self.after.calls else BEFORE
        return ""


@dataclass(frozen=True)
class Unmeasured(Fields):
    """Calls of an operator in one of the suites that are in no sum, and why."""

    suite: Annotated[str, OneOf((BEFORE, AFTER))]
    operator: str
    calls: Natural
    reason: str


@dataclass(frozen=True)
class SuiteChange(Fields):
    """Two suites, by name, that were measured in pairs of processes; `run` has a record of each case.

    The verdict is on all measured calls, and `log_ratios` are what each pair of either stage said of them.
    """

    run: Run
    before: str
    after: str
    verdict: Verdict
    rows: tuple[Row, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    log_ratios: tuple[tuple[LogRatio, ...], ...] = ()

    flat = ("verdict",)

    @property
    def whole(self) -> Row:
        """All calls of both suites."""
        return Row("", "", *_sums(self.rows), self.verdict.interval)

    @classmethod
    def from_json(cls, data: object, where: str = "file") -> SuiteChange:
        """Read the document; raises `InputError` that names the place."""
        run = Run.from_json(data, where)
        change = data.get("suite_change") if isinstance(data, dict) else None
        return decode(cls, change, f"{where}: suite_change", run=run)

    def to_json(self) -> dict[str, object]:
        """Return the document: the run, and what its records amount to."""
        change = Fields.to_json(replace(self, run=replace(self.run, records=())))
        del change["run"]
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
    summands = list(parts)
    times = math.fsum(part.time for part in summands)
    return Part(sum(part.calls for part in summands), sum(part.measured for part in summands), times)
