"""Use what stands for a device of CUDA, and one that has no more than it must, in a Python that has PyTorch.

Prints what became of them as JSON.
"""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from opperf.child.backends.torch.accelerator import Accelerator
from opperf.child.backends.torch.runtime import TorchBackend
from opperf.domain.backend import Unsupported
from opperf.domain.call import Work
from opperf.domain.device import SHARERS
from opperf.domain.plan import Side

CACHE_BYTES = 3 << 20


def swept() -> dict[str, object]:
    """Empty the cache of a device, of which the size is told, or not."""
    device = Accelerator(torch.device("cuda:0"))
    sweep = device.sweep()
    assert sweep is not None
    sweep()
    sweep()
    untold = []
    for told in ({}, {"L2_cache_size": 0}):  # PyTorch before 2.5, and a device that has none
        torch.cuda.get_device_properties = partial(lambda told, device: SimpleNamespace(**told), told)
        untold.append(device.sweep())
    return {
        "bytes": sweep.memory.nbytes,
        "written": bool((sweep.memory == 2).all()),
        "untold": untold,
        "on a CPU": TorchBackend(Side("torch")).cache_sweep(),
    }


class Allocator:
    """The memory of a device, 100 bytes, of which PyTorch keeps what was freed."""

    def __init__(self) -> None:
        self.live = self.reserved = 0
        self.most = 1.0
        torch.cuda.mem_get_info = lambda device: (100 - self.reserved, 100)
        torch.cuda.memory_allocated = lambda device: self.live
        torch.cuda.memory_reserved = lambda device: self.reserved
        torch.cuda.empty_cache = lambda: self.hold(self.live, self.live)
        torch.cuda.set_per_process_memory_fraction = lambda share, device: setattr(self, "most", share)

    def hold(self, live: int, reserved: int) -> None:
        """Have tensors of so many bytes in as many as PyTorch has taken."""
        self.live, self.reserved = live, reserved


def free() -> dict[str, object]:
    """Tell what is free on a device before a trial, in it and after it; and on one that another child shares."""
    allocator = Allocator()
    device = Accelerator(torch.device("cuda:0"))
    seen: list[int | None] = []
    for live, reserved in ((0, 0), (50, 60), (0, 60)):
        allocator.hold(live, reserved)
        seen.append(device.free_memory())
    device.trim()
    given_back = allocator.reserved == 0
    os.environ[SHARERS] = "2"
    shared = Accelerator(torch.device("cuda:0"))
    allocator.hold(10, 20)
    result = {"in turn": seen, "given back": given_back, "shared": [allocator.most, shared.free_memory()]}
    del os.environ[SHARERS]
    return result


class Event:
    """A moment, of which PyTorch knows for any device."""

    recorded = 0

    def __init__(self, device: Any, *, enable_timing: bool) -> None:
        assert (str(device), enable_timing) == ("bare:0", True)

    def record(self) -> None:
        """Count how many were recorded."""
        Event.recorded += 1

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds until another one."""
        return 0.5


def bare() -> dict[str, object]:
    """Use a device whose module neither waits nor counts memory, as that of PyTorch's own example."""
    _setup_privateuseone_for_python_backend("bare")
    told: list[object] = []
    statistics: dict[str, int] = {}

    def call(*_: object) -> None:
        told.append("called")
        for name, more in (("peak", 24), ("allocated", 40)):
            statistics[f"allocated_bytes.all.{name}"] += more

    general: Any = SimpleNamespace(
        synchronize=lambda device: told.append(str(device)),
        set_device_index=told.append,
        memory_stats=lambda device: dict(statistics),
        memory_allocated=lambda device: 0,
        get_memory_info=lambda device: (100, 200),
    )
    torch.accelerator, torch.Event = general, Event
    device = Accelerator(torch.device("bare:0"))
    device.wait()
    timer = device.timer()
    assert timer is not None
    seen: dict[str, object] = {"chosen and waited for": told[:2]}
    seen |= {"nanoseconds": timer.elapsed(), "events": Event.recorded}
    work = Work(call, (), {}, nullcontext)
    seen["untold memory"] = [device.live_memory(), device.memory(work, ())]
    statistics |= {f"allocated_bytes.all.{name}": 8 for name in ("current", "peak", "allocated")}
    memory = device.memory(work, ())
    assert memory is not None
    seen["memory"] = [device.live_memory(), device.free_memory(), memory.peak, memory.allocated, memory.source]
    torch.accelerator = SimpleNamespace()  # before PyTorch 2.6
    try:
        Accelerator(torch.device("bare:0"))
    except Unsupported as error:
        seen["without a wait"] = str(error)
    return seen


torch.cuda.is_available, torch.cuda.device_count, torch.cuda.set_device = lambda: True, lambda: 1, lambda device: None
torch.cuda.get_device_properties = lambda device: SimpleNamespace(L2_cache_size=CACHE_BYTES)
zeros, torch.zeros = torch.zeros, lambda *size, device, **more: zeros(*size, **more)
print(json.dumps({"swept": swept(), "free": free(), "bare": bare()}))
