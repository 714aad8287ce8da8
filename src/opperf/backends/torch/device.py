"""CUDA's own clock."""

from __future__ import annotations

from typing import Any

import torch


class EventTimer:
    """Two events in the stream around a block. The launch of the first kernel stands between them."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._begin = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)

    def start(self) -> None:
        """Record the first event."""
        self._begin.record(torch.cuda.current_stream(self._device))

    def stop(self) -> int:
        """Record the second, wait for it, and return the nanoseconds between."""
        self._end.record(torch.cuda.current_stream(self._device))
        self._end.synchronize()
        milliseconds: float = self._begin.elapsed_time(self._end)
        return round(milliseconds * 1e6)
