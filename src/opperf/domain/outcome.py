"""What became of one trial in one process: what a journal holds, and what records are made from."""

from __future__ import annotations

from dataclasses import dataclass

from opperf.domain.codec import Fields, Natural, decode
from opperf.domain.errors import InputError
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Trial
from opperf.domain.reason import Reason, Status


@dataclass(frozen=True)
class Outcome(Fields):
    """A measurement, or the reason for none. `version` is that of the framework that was measured."""

    trial: Trial
    process: Natural
    status: Status
    measurement: Measurement | None = None
    reason: Reason | None = None
    version: str | None = None

    @classmethod
    def from_json(cls, data: object, where: str = "outcome") -> Outcome:
        """Read the JSON form; raises `InputError` that names the place."""
        outcome = decode(cls, data, where)
        if outcome.measurement is None and outcome.reason is None:
            raise InputError(f"{where}: neither `measurement` nor `reason`, expected one", slug="bad_value")
        return outcome
