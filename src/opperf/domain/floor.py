"""The noise floor: how far identical code moves on one machine, measured by `opperf noise`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from opperf.domain.codec import Fields, encode
from opperf.domain.dataclass import dataclass
from opperf.domain.plan import Trial
from opperf.domain.record import SCHEMA_VERSION, Run
from opperf.domain.stats.significance import wilson
from opperf.domain.type_hint import Amount, LogSpread, Natural


@dataclass(frozen=True)
class Floor(Fields):
    """How far one trial moves when it is compared with itself. Ratios are logs, times seconds.

    `spread` is the standard deviation of a pair's log-ratio. `moved` is the larger end of the 95 % interval of their
    mean: what a live comparison must exceed. `between` is the log-ratio of the slowest process to the fastest: what
    two runs that were not interleaved must exceed. `alarms` of `comparisons` called identical code changed.
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

    sparse = ("facts",)

    @property
    def key(self) -> tuple[object, ...]:
        """The key of the trial that the floor is of."""
        return floor_key(self.trial)


def floor_key(trial: Trial) -> tuple[object, ...]:
    """Return what trials share that have one floor: not the version, so that a new one can be judged by it."""
    side = trial.side
    where = (side.framework, side.spelling, side.device, side.mode, side.threads)
    return (trial.case.id, trial.direction, *where)


@dataclass(frozen=True)
class NoiseRun:
    """The floors of one command. `unknown` holds trials without one, each with why, where that is known."""

    run: Run
    floors: tuple[Floor, ...]
    unknown: tuple[tuple[Trial, str | None], ...]
    tolerance: float

    @property
    def alarms(self) -> int:
        """How many comparisons called identical code changed."""
        return sum(floor.alarms for floor in self.floors)

    @property
    def comparisons(self) -> int:
        """How many comparisons there were."""
        return sum(floor.comparisons for floor in self.floors)

    def to_json(self) -> dict[str, object]:
        """Return the document."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.run.header(),
            "floors": encode(self.floors),
            "unknown": [{"trial": encode(trial), "reason": reason} for trial, reason in self.unknown],
            "false_alarms": {
                "alarms": self.alarms,
                "comparisons": self.comparisons,
                "interval": list(wilson(self.alarms, self.comparisons)),
                "tolerance": self.tolerance,
            },
        }
