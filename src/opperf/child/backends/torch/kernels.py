"""What a device does for each call, by PyTorch's profiler (Kineto), whose trace is read as it is written."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torch.profiler import ProfilerActivity, profile, record_function

from opperf.child.backends.common.launches import MARK, read_kineto
from opperf.child.backends.common.verbose import repeat
from opperf.domain.call import Work
from opperf.domain.kernels import CallActivity


class Watch:
    """Sees kernels, copies and fills; `wait` waits for all that the device has to do."""

    def __init__(self, wait: Callable[[Any], None], activities: Sequence[ProfilerActivity]) -> None:
        self._wait = wait
        self._activities = activities

    def __call__(self, work: Work, calls: int, sweep: Callable[[], None] | None = None) -> Sequence[CallActivity]:
        """Return the activity of the device for each call; the profiler's first call is slow, and not counted."""
        with profile(activities=list(self._activities)) as session:
            repeat(work, calls + 1, self._wait, lambda: record_function(MARK), sweep)
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.json"
            session.export_chrome_trace(str(trace))
            return read_kineto(json.loads(trace.read_text(encoding="utf-8", errors="replace")))[1:]
