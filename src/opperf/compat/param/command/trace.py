"""A trace that Chrome's viewer and Perfetto show: the samples of a run as they were taken, one row for each direction.

Each sample is an event as long as its wall time. When it began was not recorded, so samples follow each other without
the pauses between them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from opperf.domain.files.destination import write_text
from opperf.domain.measurement import Samples

#: The format counts microseconds.
MICRO = 1e3


def write_trace(path: Path, samples: Iterable[tuple[str, str, Samples]]) -> None:
    """Write the trace of samples, each with its run id and direction."""
    events: list[dict[str, Any]] = []
    rows: dict[str, int] = {}
    clock = 0.0
    for run_id, direction, metric_samples in samples:
        row = rows.setdefault(direction, len(rows) + 1)
        for number, sample in enumerate(metric_samples.samples):
            length = sample.wall_ns / MICRO
            events.append(
                {
                    "name": run_id, "cat": direction, "ph": "X", "ts": clock, "dur": length, "pid": 1, "tid": row,
                    "args": {
                        "sample": number, "calls": sample.calls, "clean": sample.clean,
                        "cpu_us": sample.cpu_ns / MICRO,
                    },
                }
            )  # fmt: skip
            clock += length
    names = [_named("process_name", "opperf", 0), *(_named("thread_name", name, row) for name, row in rows.items())]
    write_text(path, json.dumps({"traceEvents": [*names, *events], "displayTimeUnit": "ms"}))


def _named(what: str, name: str, row: int) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": 1, "tid": row, "args": {"name": name}}
