"""What an operator outside the catalog computes and moves: as its author declares, else as the framework counts.

A framework may count a call that is made for it, or one of tensors without elements, which has shapes alone. What does
the latter is imported first, and that takes as long as many a call: the first long ones are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from opperf.child.backends.binding import Call
from opperf.child.measure.calibrate import LONG_NS
from opperf.child.worker.code import flop_count
from opperf.child.worker.directions import Ready
from opperf.domain.backend import Backend
from opperf.domain.plan import Trial

#: So long may all long calls take that are made to be counted, in nanoseconds. PyTorch imports its compiler in 1.2 s on
#: a quiet machine, and calls take longer on a busy one too.
MOST_MADE_NS = 2_000_000_000


class Counter:
    """Counts calls with one backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._made_ns = 0

    def facts(self, trial: Trial, call: Call, sound: Ready) -> dict[str, object]:
        """Return the FLOPs and bytes of a call, and who counted them; nothing where nobody does."""
        flops = None if call.function is None else flop_count(call.function, trial.case)
        if flops is not None:
            return {"flops": flops, "counted": "declared"}
        counts = None
        if trial.direction == "forward":
            with suppress(Exception):  # what cannot be counted can be timed
                # Own code may hand the address of a tensor on, and tensors without elements have none.
                counts = self._backend.counts(sound.work, long=call.function is None and self._is_long(sound.took))
        if counts is None:
            return {}
        facts = {"flops": counts.flops, "bytes": counts.bytes, "counted": counts.source}
        return {name: value for name, value in facts.items() if value is not None}

    def _is_long(self, took: Sequence[int]) -> bool:
        """Whether a call takes too long to be made again, beside the long ones that were."""
        nanoseconds = min(took, default=0)
        if nanoseconds < LONG_NS:
            return False
        self._made_ns += nanoseconds
        return self._made_ns > MOST_MADE_NS
