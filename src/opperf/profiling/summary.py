"""One summary of what MXNet's profiler saw: times as it adds them up, and memory as it should.

The profiler's own summary has half the span of a counter where memory's average stands, and its largest value since the
process began for its most. Here are the bytes of all allocations, and the most that they held together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opperf.backends.mxnet.allocations import allocated, peak

#: Said where the file with the profiler's events is not known.
NO_FILE = "configure the profiler by `opperf.profiler.set_config` to have memory summed up"


@dataclass
class Ledger:
    """Allocations and releases since the last reset, by device; None where they are not known."""

    changes: dict[str, list[int]] | None = field(default_factory=dict)

    def add(self, changes: Mapping[str, Sequence[int]] | None) -> None:
        """Take further ones."""
        if changes is None:
            self.changes = None
        if self.changes is not None:
            for device, steps in (changes or {}).items():
                self.changes.setdefault(device, []).extend(steps)

    def summary(self) -> dict[str, dict[str, int]] | None:
        """Return counts and bytes by device."""
        if self.changes is None:
            return None
        return {
            device: {
                "Allocations": sum(step > 0 for step in steps),
                "Total Bytes Allocated": allocated(steps),
                "Peak Bytes": peak(steps),
            }
            for device, steps in sorted(self.changes.items())
        }


def summary(told: str, ledger: Ledger) -> str:
    """Return the summary as JSON text; `told` is the profiler's own in JSON.

    Times keep the profiler's words and unit; an average is the total over the count.
    """
    own = json.loads(told)
    memory = ledger.summary()
    found: dict[str, Any] = {
        "Time": {domain: _averaged(events) for domain, events in own["Time"].items()},
        "Memory": memory,
        "Unit": {"Time": own["Unit"]["Time"], "Memory": "B"},
    }
    if memory is None:
        found["Note"] = NO_FILE
    return json.dumps(found, indent=2)


def _averaged(events: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {name: {**one, "Avg": one["Total"] / one["Count"]} for name, one in events.items() if one["Count"]}
