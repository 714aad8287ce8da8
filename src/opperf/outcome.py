"""What became of one trial in one process: what a journal holds, and what records are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opperf.measurement import Measurement
from opperf.plan import Trial
from opperf.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Outcome:
    """A measurement, or the reason for none. `version` is that of the framework that was measured."""

    trial: Trial
    process: int
    status: str
    measurement: Measurement | None = None
    reason: Reason | None = None
    version: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "trial": self.trial.to_json(),
            "process": self.process,
            "status": self.status,
            "measurement": None if self.measurement is None else self.measurement.to_json(),
            "reason": None if self.reason is None else self.reason.to_json(),
            "version": self.version,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        """Read the JSON form."""
        return cls(
            trial=Trial.from_json(data["trial"]),
            process=data["process"],
            status=data["status"],
            measurement=None if data["measurement"] is None else Measurement.from_json(data["measurement"]),
            reason=None if data["reason"] is None else Reason.from_json(data["reason"]),
            version=data["version"],
        )
