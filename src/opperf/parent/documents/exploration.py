"""What `opperf explore` found: cases that cost too much, where else it is so, and what to do instead."""

from __future__ import annotations

from dataclasses import field

from opperf.domain.case import Case
from opperf.domain.codec import Fields, decode, encode_fields
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.plan import Side
from opperf.domain.record import Run
from opperf.domain.registry import Direction
from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.type_hint import Amount, Natural, Positive
from opperf.parent.documents.comparison import Explanations


@dataclass(frozen=True)
class Anomaly(Fields):
    """A case that costs `ratio` times what it should, and the `region` of cases that do.

    `other` is the neighbour that it is held against, None where it is the same case on another side or the machine's
    limit. `cost` and `expected` are seconds, or bytes where memory was looked for; where the neighbour does less work,
    `expected` is its cost in proportion. The interval is of 95 %, over
    `pairs` of processes; memory is counted, so it has none. `remedy` says what to do instead, `command` repeats it.
    """

    case: Case
    other: Case | None
    ratio: Positive
    interval: tuple[float, float] | None
    pairs: Natural
    cost: Amount
    expected: Amount
    region: str
    remedy: str | None
    command: str
    explanation: Explanations = field(default_factory=Explanations)


@dataclass(frozen=True)
class Territory(Fields):
    """What was explored: one operator on a side, in a direction, over its dimensions, and what was found there.

    `looks` are the points that were asked for, `unmeasured` those of them that failed, `unconfirmed` the cliffs that
    pairs of processes did not show again, `unexamined` the suspicious points that time or looks did not suffice for.
    `out_of_time`: the time was over before all looks were made.
    """

    operator: str
    side: Side
    direction: Direction
    dimensions: tuple[str, ...]
    looks: Natural
    unconfirmed: Natural
    anomalies: tuple[Anomaly, ...]
    unexamined: Natural = 0
    unmeasured: Natural = 0
    out_of_time: bool = False


@dataclass(frozen=True)
class Exploration:
    """The results of one `opperf explore`. `against` is the other side, where there is one."""

    run: Run
    objective: str
    factor: float
    against: Side | None
    territories: tuple[Territory, ...]

    @property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """All that was found."""
        return tuple(anomaly for territory in self.territories for anomaly in territory.anomalies)

    def suite(self) -> Suite:
        """Return the cases that cost too much, each with its neighbour after it."""
        cases = [
            SuiteCase(case, directions=(territory.direction,))
            for territory in self.territories
            for anomaly in territory.anomalies
            for case in (anomaly.case, anomaly.other)
            if case is not None
        ]
        return Suite("cliffs", "opperf explore", tuple(dict.fromkeys(cases)))

    @classmethod
    def from_json(cls, data: JsonObject, where: str) -> Exploration:
        """Read the document; raises `InputError` that names the place."""
        return decode(cls, data.get("exploration"), f"{where}: exploration", run=Run.above(data, where))

    def to_json(self) -> dict[str, object]:
        """Return the document."""
        return self.run.document(exploration=encode_fields(self, "run"))
