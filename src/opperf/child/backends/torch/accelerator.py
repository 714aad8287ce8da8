"""A device beside the CPU, by the module that PyTorch has for its kind: CUDA's, Intel's, Apple's, or one of a package.

A package registers its device under a name of its own (PrivateUse1), and PyTorch imports it when it is imported
itself (https://docs.pytorch.org/tutorials/unstable/python_extension_autoload.html). The modules share the names of
their functions. What one lacks is not measured on its devices.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from opperf.domain.backend import Unsupported
from opperf.domain.call import Work
from opperf.domain.measurement import Memory

#: Kinds of devices that PyTorch knows by itself, in the order of preference. ROCm's devices are `cuda` to PyTorch.
KINDS = ("cuda", "xpu", "mps", "hpu", "mtia")
#: Kinds that Kineto sees the kernels of.
WATCHED = ("cuda", "xpu")
#: What PyTorch calls a device that nobody has registered.
NOBODY = "privateuseone"


class Accelerator:
    """A device that is not the CPU. Whatever is asked of it and its module lacks is None."""

    def __init__(self, device: Any) -> None:
        """Make it the current one: own kernels, and tensors on `device="cuda"`, mean that.

        Raises `Unsupported` for a device that is not here.
        """
        here = names()
        if str(device) not in here:
            hint = f"it has {', '.join(here)}" if here else "it has none but the CPU; a package may bring one"
            raise Unsupported(f"PyTorch has no device `{device}` here", slug="no_device", hint=hint)
        self.kind = device.type
        self._device = device
        self._module: ModuleType = getattr(torch, self.kind)
        self._place = () if self.kind == "mps" else (device,)  # of which there is one
        self._call("set_device")

    @property
    def name(self) -> str:
        """What its maker calls it."""
        return str(self._call("get_device_name") or self._device)

    def wait(self) -> None:
        """Wait for all that it has to do."""
        self._module.synchronize(*self._place)

    def timer(self) -> EventTimer | None:
        """Return its own clock."""
        return EventTimer(self._module, self._device) if hasattr(self._module, "Event") else None

    def activity(self) -> Any:
        """Return Kineto's word for its kernels."""
        return getattr(torch.profiler.ProfilerActivity, self.kind.upper()) if self.kind in WATCHED else None

    def sweep(self) -> CacheSweep | None:
        """Return a function that empties its last cache; None where nobody tells its size, as PyTorch before 2.5."""
        properties = self._call("get_device_properties")
        sizes = (getattr(properties, name, 0) for name in ("L2_cache_size", "last_level_cache_size"))
        size = next(filter(None, sizes), 0)
        return CacheSweep(self._device, size) if size else None

    def free_memory(self) -> int | None:
        """Return the bytes that are free, with those that PyTorch keeps for later tensors."""
        free_and_all = self._call("mem_get_info")
        if free_and_all is None:
            return None
        return int(free_and_all[0]) + (self._call("memory_reserved") or 0) - (self._call("memory_allocated") or 0)

    def live_memory(self) -> int | None:
        """Return the bytes of the tensors that live on it."""
        live = self._call("current_allocated_memory" if self.kind == "mps" else "memory_allocated")
        return None if live is None else int(live)

    def memory(self, work: Work, arguments: tuple[Any, ...]) -> Memory | None:
        """Make one call and return what it took, by its caching allocator."""
        if not hasattr(self._module, "reset_peak_memory_stats"):
            return None
        self.wait()
        self._call("reset_peak_memory_stats")
        before = self._module.memory_stats(self._device)
        result = work.function(*arguments, **work.keywords)
        self.wait()
        after = self._module.memory_stats(self._device)
        del result
        return Memory(
            after["allocated_bytes.all.peak"] - before["allocated_bytes.all.current"],
            after["allocated_bytes.all.allocated"] - before["allocated_bytes.all.allocated"],
            f"{'CUDA' if self.kind == 'cuda' else self.kind} caching allocator",
        )

    def _call(self, name: str) -> Any:
        """Return the answer of its module's function of that name, which may be missing."""
        function: Callable[..., Any] | None = getattr(self._module, name, None)
        return None if function is None else function(*self._place)


def accelerator_of(device: Any) -> Accelerator | None:
    """Return a device, None for the CPU; raises `Unsupported` for one that is not here."""
    return None if device.type == "cpu" else Accelerator(device)


def names() -> list[str]:
    """Return the devices that are here, the CPU left out."""
    registered = torch._C._get_privateuse1_backend_name()
    kinds = (*KINDS, *([] if registered == NOBODY else [registered]))
    return [name for kind in kinds for name in _names(kind, getattr(torch, kind, None))]


def _names(kind: str, module: ModuleType | None) -> list[str]:
    if module is None or not getattr(torch.backends if kind == "mps" else torch, kind).is_available():
        return []
    count = getattr(module, "device_count", lambda: 1)()
    return [f"{kind}:{i}" for i in range(count)]


class EventTimer:
    """Two events in the stream around a block. The launch of the first kernel stands between them."""

    def __init__(self, module: Any, device: Any) -> None:
        self._begin, self._end = (module.Event(enable_timing=True) for _ in range(2))
        stream: Callable[[Any], Any] | None = getattr(module, "current_stream", None)
        self._stream = (lambda: (stream(device),)) if stream else tuple  # MPS has one stream, without a name

    def start(self) -> None:
        """Record the first event."""
        self._begin.record(*self._stream())

    def stop(self) -> None:
        """Record the second event."""
        self._end.record(*self._stream())

    def elapsed(self) -> int:
        """Return the nanoseconds between them."""
        milliseconds: float = self._begin.elapsed_time(self._end)
        return round(milliseconds * 1e6)


class CacheSweep:
    """Memory on a device, written from end to end at each call: twice the size of the device's last cache."""

    def __init__(self, device: Any, cache_bytes: int) -> None:
        self.memory = torch.zeros(2 * cache_bytes, dtype=torch.uint8, device=device)

    def __call__(self) -> None:
        """Write all of the memory."""
        self.memory.add_(1)
