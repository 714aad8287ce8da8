"""What runs in a call in ONNX Runtime: the nodes of its graph, with their kernels' times, as its own profiler tells.

A session writes the trace of all its runs when its profiling ends, so a call is explained in a session of its own. The
first run is not counted: memory is allocated in it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from opperf.child.backends.onnxruntime.node import Model
from opperf.child.backends.onnxruntime.program import Program
from opperf.domain.explanation import Event, Explanation
from opperf.domain.plan import Side

#: How the name of an event ends that is a kernel; the others say how it was prepared.
KERNEL = "_kernel_time"
#: The event that a whole run is.
RUN = "model_run"


def of_calls(model: Model, side: Side, calls: int) -> list[Explanation]:
    """Return what ran in each of `calls` calls."""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(model, side, trace=str(Path(folder, "trace")))
        for _ in range(calls + 1):
            program()
        events = json.loads(Path(program.session.end_profiling()).read_text(encoding="utf-8"))
    runs = sorted((event["ts"], event["ts"] + event["dur"]) for event in events if event.get("name") == RUN)
    kernels = [event for event in events if event.get("name", "").endswith(KERNEL)]
    return [
        Explanation(tuple(_event(kernel) for kernel in kernels if start <= kernel["ts"] <= end))
        for start, end in runs[1:]
    ]


def _event(kernel: dict[str, Any]) -> Event:
    """Return a kernel by the operator of its node, and who provides it."""
    arguments = kernel["args"]
    return Event(arguments["op_name"], "kernel", 1, kernel["dur"] / 1e6, arguments.get("provider"))
