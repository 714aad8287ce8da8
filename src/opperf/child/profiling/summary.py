"""The summary of a profile in MXNet's form: times, and corrected memory.

The summary of MXNet's own profiler has half the span of a counter where memory's average stands, and its largest value
since the process began for its most. Here are the bytes of all allocations, and the most that they held together.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from opperf.child.backends.mxnet.allocations import allocated_bytes, peak
from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Profile, Reading

#: Said where the file with the profiler's events is not known.
NO_FILE = "call `opperf.profiler.set_config` to sum up memory"
#: Said where the profiler was not configured, or not to add up times.
NO_TIMES = "no times were summed up: call `opperf.profiler.set_config` with `aggregate_stats`"
#: Said where memory was not watched.
NO_MEMORY = "memory was not recorded: use `set_config(profile_memory=True)` or `profile(memory=True)`"


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
                "Total Bytes Allocated": allocated_bytes(steps),
                "Peak Bytes": peak(steps),
            }
            for device, steps in sorted(self.changes.items())
        }


def summary(text: str, ledger: Ledger) -> str:
    """Return the summary as JSON text; `text` is the profiler's own in JSON, empty where it adds up no times.

    Times keep the profiler's words and unit; an average is the total over the count.
    """
    statistics = json.loads(text) if text else None
    memory = ledger.summary()
    result: dict[str, object] = {
        "Time": statistics and {domain: _average(events) for domain, events in statistics["Time"].items()},
        "Memory": memory,
        "Unit": {"Time": "ms" if statistics is None else statistics["Unit"]["Time"], "Memory": "B"},
    }
    if statistics is None or memory is None:
        result["Note"] = NO_TIMES if statistics is None else NO_FILE
    return json.dumps(result, indent=2)


def _average(events: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {name: {**one, "Avg": one["Total"] / one["Count"]} for name, one in events.items() if one["Count"]}


def document(profile: Profile, *, memory: bool) -> dict[str, object]:
    """Return the summary of a profile: times in milliseconds by kind and name, and memory where it was watched."""
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for event in profile.events:
        times[event.kind][event.name].append(event.duration / 1e6)
    ledger = Ledger()
    ledger.add(_changes(profile.readings) if memory else None)
    result: dict[str, object] = {
        "Time": {kind: {name: _sums(spans) for name, spans in names.items()} for kind, names in times.items()},
        "Memory": ledger.summary(),
        "Unit": {"Time": "ms", "Memory": "B"},
    }
    if not memory:
        result["Note"] = NO_MEMORY
    return result


def _sums(spans: Sequence[float]) -> dict[str, float]:
    total = sum(spans)
    return {
        "Count": len(spans), "Total": total, "Min": min(spans), "Max": max(spans), "Avg": total / len(spans)
    }  # fmt: skip


def _changes(readings: Sequence[Reading]) -> dict[str, list[int]]:
    """Return the steps from one reading of a device to the next; the first one is where it began."""
    totals: dict[tuple[int, str], list[int]] = defaultdict(list)
    for reading in readings:
        totals[reading.process, reading.device].append(reading.size)
    return {device: [after - before for before, after in pairwise(values)] for (_, device), values in totals.items()}
