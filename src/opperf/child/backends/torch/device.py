"""What only a CUDA device has: its own clock, and a cache of its own."""

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


class CacheSweep:
    """Memory on a device, written from end to end at each call: twice the size of the device's second-level cache."""

    def __init__(self, device: Any, cache_bytes: int) -> None:
        self.memory = torch.zeros(2 * cache_bytes, dtype=torch.uint8, device=device)

    @classmethod
    def of(cls, device: Any) -> CacheSweep:
        """Return the sweep of a CUDA device, which is asked for the size of its cache."""
        return cls(device, torch.cuda.get_device_properties(device).L2_cache_size)

    def __call__(self) -> None:
        """Write all of the memory."""
        self.memory.add_(1)
