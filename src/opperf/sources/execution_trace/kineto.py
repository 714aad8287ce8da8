"""How long recorded calls took: a Kineto (Chrome) trace of the same run, joined by the number of each call."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import ijson

from opperf.errors import InputError
from opperf.sources.execution_trace.node import DAMAGED, opened, told

MICROSECOND = 1e-6


@dataclass
class Durations:
    """The name of each recorded call, and the seconds that it took on the host, what it called included."""

    host: dict[int, tuple[str, float]] = field(default_factory=dict)

    def of(self, record_function: int, name: str) -> float | None:
        """Return how long a call took, None where that is not recorded."""
        found = self.host.get(record_function)
        if not record_function or found is None or found[0] != name:
            return None
        return found[1]


def read_durations(path: Path) -> Durations:
    """Read a Kineto trace, one event at a time; raises `InputError` for what is none."""
    found = Durations()
    read = 0
    with opened(path) as file:
        try:
            for event in ijson.items(file, "traceEvents.item", use_float=True):
                read += 1
                if event.get("cat") == "cpu_op" and "dur" in event:
                    number = event.get("args", {}).get("Record function id")
                    if number is not None:
                        found.host[int(number)] = (str(event["name"]), float(event["dur"]) * MICROSECOND)
        except (*DAMAGED, ValueError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path}: damaged after {read} events: {told(error)}",
                hint="expected the Chrome trace that `torch.profiler` exports",
                slug="bad_trace",
            ) from error
    if not found.host:
        raise InputError(
            f"{path}: no operator with a `Record function id` among {read} events",
            hint="expected the Chrome trace that `torch.profiler` exports of the same run",
            slug="bad_trace",
        )
    return found
