"""What a GPU does for each call, by JAX's profiler: the planes of its devices, and the launches that the host marks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax

from opperf.child.backends.common.launches import MARK
from opperf.child.backends.common.verbose import repeat
from opperf.child.backends.jax.planes import calls_of
from opperf.domain.call import Work
from opperf.domain.kernels import CallActivity


class Watch:
    """Sees kernels, copies and fills; `wait` waits for all that was launched."""

    def __init__(self, wait: Callable[[Any], None]) -> None:
        self._wait = wait

    def __call__(self, work: Work, calls: int, sweep: Callable[[], None] | None = None) -> Sequence[CallActivity]:
        """Return the activity of the device for each call; the profiler's first call is slow, and not counted."""
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder):
                repeat(work, calls + 1, self._wait, lambda: jax.profiler.TraceAnnotation(MARK), sweep)
            files = sorted(Path(folder).rglob("*.xplane.pb"))
            planes = [plane for file in files for plane in jax.profiler.ProfileData.from_file(str(file)).planes]
            return calls_of(planes)[1:]
