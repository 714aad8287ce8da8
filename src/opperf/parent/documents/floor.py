"""The noise floor: how far identical code moves on one machine, and what comparisons there would find.

Measured by `opperf noise`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Optional

from opperf.domain.codec import Fields, decode, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.plan import Side, Trial
from opperf.domain.record import Run
from opperf.domain.stats.significance import clopper_pearson
from opperf.domain.type_hint import Amount, LogSpread, Natural, Positive, Ratio


@dataclass(frozen=True)
class Detection(Fields):
    """How often one trial was called slower when it made a known share of extra calls, the `effect`.

    `ratio` is what was measured of it, over all pairs; `seconds` what one comparison took.
    """

    effect: Positive
    detections: Natural
    inconclusive: Natural
    comparisons: Natural
    ratio: Ratio
    seconds: Amount


@dataclass(frozen=True)
class Displacement(Fields):
    """How far one trial moves when one side loads its code and data elsewhere in memory, as after a rebuild.

    `moved` is the log-ratio of the layout that moved it farthest, over the pairs of that layout.
    """

    moved: LogSpread
    layouts: Natural
    alarms: Natural
    comparisons: Natural


@dataclass(frozen=True)
class Suites(Fields):
    """How often a whole suite of identical code was compared, and how often any of its cases was called changed.

    `cut` comparisons, of any kind, did not come to their end, and count nowhere.
    """

    cases: Natural
    suites: Natural
    alarms: Natural
    cut: Natural = 0

    sparse = ("cut",)


@dataclass(frozen=True)
class Floor(Fields):
    """How far one trial moves when it is compared with itself. Ratios are logs, times seconds.

    `spread` is the standard deviation of a pair's log-ratio. `moved` is the larger end of the 95 % interval of their
    mean: what a live comparison must exceed. `between` is the log-ratio of the slowest process to the fastest: what
    two runs that were not interleaved must exceed. `alarms` of `comparisons` called identical code changed, and
    one took so many `seconds`. What other layouts of memory move is in `moved` too, where there is a `displacement`.
    `facts` has `jobs` where several measured: the CPUs of the pairs, their class of work and what ran beside them.
    """

    trial: Trial
    time: Amount
    pairs: Natural
    spread: LogSpread
    moved: LogSpread
    between: LogSpread
    alarms: Natural
    comparisons: Natural
    measured: str
    facts: Mapping[str, object] = field(default_factory=dict)
    seconds: Optional[Amount] = None
    detection: Optional[Detection] = None
    displacement: Optional[Displacement] = None

    sparse = ("facts", "seconds", "detection", "displacement")

    @property
    def key(self) -> tuple[object, ...]:
        """The key of the trial that the floor is of."""
        return floor_key(self.trial)


def floor_key(trial: Trial) -> tuple[object, ...]:
    """Return the key of trials that have one floor: not the version, so that a new one can be judged by it."""
    side = trial.side
    where = (side.framework, side.spelling, side.device, side.mode, side.threads)
    return (trial.case.id, trial.direction, *where)


def series_side(side: Side) -> JsonObject:
    """Return the part of a side that the builds of one series share: all but the environment."""
    return {name: value for name, value in side.to_json().items() if name != "environment"}


def series_key(case: str, direction: str, side: JsonObject, metric: str) -> tuple[str, str, str, str]:
    """Identify a series of builds: its case's id, direction, side without its build, and metric."""
    return case, direction, json.dumps(side, sort_keys=True), metric


@dataclass(frozen=True)
class Unknown(Fields):
    """A trial without a floor, and why, where that is known."""

    trial: Trial
    reason: str | None


@dataclass(frozen=True)
class NoiseRun:
    """The floors of one command, and the trials without one.

    `suites` counts what was compared as a whole, where error rates were to be measured.
    """

    run: Run
    floors: tuple[Floor, ...]
    unknown: tuple[Unknown, ...]
    tolerance: float
    suites: Suites | None = None

    @property
    def alarms(self) -> int:
        """How many comparisons called identical code changed."""
        return sum(floor.alarms for floor in self.floors)

    @property
    def comparisons(self) -> int:
        """How many comparisons there were."""
        return sum(floor.comparisons for floor in self.floors)

    @classmethod
    def from_json(cls, data: JsonObject, where: str) -> NoiseRun:
        """Read the document; raises `InputError` that names the place."""
        run = Run.above(data, where)
        unknown = read_as(tuple[Unknown, ...], data.get("unknown"), f"{where}: unknown")
        floors = read_as(tuple[Floor, ...], data.get("floors"), f"{where}: floors")
        # What false alarms say of tolerance and suites stands among their counts.
        alarms = data.get("false_alarms")
        return decode(cls, alarms, f"{where}: false_alarms", run=run, floors=floors, unknown=unknown)

    def to_json(self) -> dict[str, object]:
        """Return the document."""
        false_alarms = {
            "alarms": self.alarms,
            "comparisons": self.comparisons,
            "interval": clopper_pearson(self.alarms, self.comparisons),
            "tolerance": self.tolerance,
            **({} if self.suites is None else {"suites": self.suites}),
        }
        return self.run.document(floors=self.floors, unknown=self.unknown, false_alarms=false_alarms)
