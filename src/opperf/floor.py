"""The noise floor: how far identical code moves on one machine, as `opperf noise` measured it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opperf.errors import InputError
from opperf.plan import Trial
from opperf.record import SCHEMA_VERSION, Run
from opperf.stats.significance import wilson

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Floor:
    """How far one trial moves when it is compared with itself. Ratios are logs, times seconds.

    `spread` is the standard deviation of a pair's log-ratio. `moved` is the larger end of the 95 % interval of their
    mean: what a live comparison must exceed. `between` is the log-ratio of the slowest process to the fastest: what
    two runs that were not interleaved must exceed. `alarms` of `comparisons` called identical code changed.
    """

    trial: Trial
    time: float
    pairs: int
    spread: float
    moved: float
    between: float
    alarms: int
    comparisons: int
    measured: str

    @property
    def key(self) -> tuple[object, ...]:
        """What it is the floor of."""
        return floor_key(self.trial)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {**vars(self), "trial": self.trial.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str = "floor") -> Floor:
        """Read the JSON form; raises `InputError` that names the place."""
        try:
            values = {name: data[name] for name in cls.__dataclass_fields__}
            return cls(**{**values, "trial": Trial.from_json(data["trial"])})
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{where}: not a noise floor that opperf wrote ({type(error).__name__}: {error})", slug="bad_record"
            ) from error


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

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.run.header(),
            "floors": [floor.to_json() for floor in self.floors],
            "unknown": [{"trial": trial.to_json(), "reason": reason} for trial, reason in self.unknown],
            "false_alarms": {
                "alarms": self.alarms,
                "comparisons": self.comparisons,
                "interval": list(wilson(self.alarms, self.comparisons)),
                "tolerance": self.tolerance,
            },
        }
