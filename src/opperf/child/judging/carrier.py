"""Between the memory that a judge shares and a device: inputs are copied there in each turn, and results back.

Both copies are within the turn, whose clock is the judge's. So the results are on the host, where they are read, before
the turn is over: nothing depends on what the candidate's process says of its device, and what it has queued on any
stream is done by then, or missing. What the copies cost is in the turns of empty calls, and taken off.
"""

from __future__ import annotations

import ctypes
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from opperf.child.judging.slots import Area
from opperf.domain.backend import Backend
from opperf.domain.case import Case
from opperf.domain.judging import tensors
from opperf.domain.tensor import TensorSpec


class Carrier:
    """The slots of an area as tensors on a device."""

    def __init__(self, backend: Backend, area: Area) -> None:
        self._backend, self._area = backend, area
        #: Of each slot the tensors on the device, with the elements that belong there.
        self._loads: dict[int, list[tuple[Any, Any]]] = defaultdict(list)
        self._same: dict[int, Any] = {}
        self._raws: list[bytes] = []

    def tensors(self, backend: Backend, case: Case, slot: int) -> Iterator[Any]:
        """Yield the tensors of a slot; those that are constant are the same objects in each."""
        for i, (_, spec) in enumerate(tensors(case)):
            if i not in self._same:
                part = self._area.part(slot, i, spec)
                tensor = backend.carry(backend.share(part, spec))
                if i in self._area.geometry.constant:
                    self._same[i] = tensor
                else:
                    elements = backend.share(part, TensorSpec((math.prod(spec.shape),), spec.dtype))
                    self._loads[slot].append((tensor, elements))
            else:
                tensor = self._same[i]
            yield tensor

    def load(self, slots: Sequence[int]) -> None:
        """Copy what lies in some slots to the device."""
        for slot in dict.fromkeys(slots):
            for tensor, elements in self._loads[slot]:
                self._backend.refill(tensor, elements, 0)

    def unload(self, results: Sequence[Any]) -> Iterator[int]:
        """Wait for all that the device has to do, and yield where copies of the tensors of results lie on the host."""
        self._backend.wait([])
        self._raws = [self._backend.to_host(leaf)[0] for result in results for leaf in self._backend.leaves(result)]
        for raw in self._raws:
            yield ctypes.cast(ctypes.c_char_p(raw), ctypes.c_void_p).value or 0

    def clear(self) -> None:
        """Let go of the copies."""
        self._raws = []
