"""A device beside the CPU, by the module that PyTorch has for its kind: CUDA's, Intel's, Apple's, or one of a package.

A package registers its device under a name of its own (PrivateUse1), and PyTorch imports it when it is imported
itself (https://docs.pytorch.org/tutorials/unstable/python_extension_autoload.html). The modules share the names of
their functions. What a registered one lacks `torch.accelerator` has, from PyTorch 2.6 on, as far as the device tells
it: the module of PyTorch's own example of a device neither waits nor counts memory. What is in neither is not measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

import torch

from opperf.domain.backend import Unsupported, no_device
from opperf.domain.call import Work
from opperf.domain.device import FLOAT32, TF32, memory_share
from opperf.domain.measurement import Memory

#: Kinds of devices that PyTorch knows by itself, in the order of preference. ROCm's devices are `cuda` to PyTorch.
KINDS = ("cuda", "xpu", "mps", "hpu", "mtia")
#: Kinds that Kineto sees the kernels of.
WATCHED = ("cuda", "xpu")
#: Bytes of the last cache of AMD's largest GPUs: what ROCm tells is one die's second-level cache, 4 MB of an MI300X
#: (https://github.com/ROCm/ROCm/issues/4203).
HIP_CACHE = 256 * 1024 * 1024
#: What PyTorch asks the maker's library of a device (amdsmi on ROCm, Level Zero's sysman for Intel's), by the name of a
#: reading, and the factor to its unit: MHz and degrees Celsius. Power is watts here and milliwatts there: nobody asks.
READINGS = {"sm_clock": ("clock_rate", 1e6), "temperature": ("temperature", 1.0)}
#: What `torch.accelerator` calls what modules of devices call otherwise; and what it answers for a device that tells
#: nothing, as if that were nothing.
GENERAL = {"set_device": "set_device_index", "mem_get_info": "get_memory_info"}
GUESSES = ("memory_allocated", "memory_reserved")
#: The bytes of live tensors in the statistics of an allocator: now, at most, and all that ever were.
CURRENT, PEAK, ALLOCATED = (f"allocated_bytes.all.{name}" for name in ("current", "peak", "allocated"))
#: What PyTorch calls a device that nobody has registered.
NOBODY = "privateuseone"


class Accelerator:
    """A device that is not the CPU. Whatever is asked of it and its module lacks is None."""

    def __init__(self, device: Any) -> None:
        """Make it the current one: own kernels, and tensors on `device="cuda"`, mean that.

        A child that shares its memory gets no more than its part. Raises `Unsupported` for a device that is not here,
        or that cannot be waited for.
        """
        if str(device) not in names():
            raise no_device("PyTorch", f"{device}", names())
        self.kind = device.type
        self._device = device
        self._module: ModuleType = getattr(torch, self.kind)
        self._place = () if self.kind == "mps" else (device,)  # of which there is one
        self._synchronize = _synchronize(self.kind)
        self._call("set_device", (device.index,))  # a number, which is all that some modules take
        self._share = memory_share(os.environ)
        if self._share < 1:
            self._call("set_per_process_memory_fraction", (self._share, *self._place))

    @property
    def name(self) -> str:
        """What its maker calls it."""
        return str(self._call("get_device_name") or self._device)

    @property
    def facts(self) -> dict[str, object]:
        """What of CUDA's libraries and settings decides which kernels run."""
        facts: dict[str, object] = {"device": self.name}
        if self.kind == "cuda":
            cudnn = torch.backends.cudnn
            facts |= {
                "cudnn": cudnn.version(),
                "cudnn_benchmark": cudnn.benchmark,
                "float32_convolutions": TF32 if cudnn.allow_tf32 and _may_round() else FLOAT32,
                "capability": ".".join(map(str, torch.cuda.get_device_capability(self._device))),
            }
        return facts

    @property
    def float32_products(self) -> str | None:
        """How it multiplies matrices of float32, by PyTorch's settings."""
        if self.kind != "cuda":
            return None
        return TF32 if torch.get_float32_matmul_precision() != "highest" and _may_round() else FLOAT32

    def trim(self) -> None:
        """Give back what PyTorch keeps for later tensors."""
        self._call("empty_cache", ())

    def wait(self) -> None:
        """Wait for all that it has to do."""
        self._synchronize(*self._place)

    def timer(self) -> EventTimer | None:
        """Return its own clock."""
        stream: Callable[[Any], Any] | None = getattr(self._module, "current_stream", None)
        if hasattr(self._module, "Event"):
            return EventTimer(self._module.Event, None if stream is None else partial(stream, self._device))
        if self.kind in KINDS or not hasattr(torch, "Event"):
            return None
        with suppress(RuntimeError):  # a device need not have events
            timer = EventTimer(partial(torch.Event, self._device))
            timer.start()
            timer.stop()
            self.wait()
            timer.elapsed()
            return timer
        return None

    def activity(self) -> Any:
        """Return Kineto's word for its kernels."""
        return getattr(torch.profiler.ProfilerActivity, self.kind.upper()) if self.kind in WATCHED else None

    def sweep(self) -> CacheSweep | None:
        """Return a function that empties its last cache; None where nobody tells its size, as PyTorch before 2.5."""
        properties = self._call("get_device_properties")
        sizes = (getattr(properties, name, 0) for name in ("L2_cache_size", "last_level_cache_size"))
        size = max(next(filter(None, sizes), 0), HIP_CACHE if torch.version.hip else 0)
        return CacheSweep(self._device, size) if size else None

    def read(self) -> dict[str, int]:
        """Return its clock in Hz and its temperature, as far as PyTorch and the driver tell them."""
        result = {}
        for name, (function, factor) in READINGS.items():
            with suppress(Exception):  # the maker's package is missing, or its driver refuses: of no common type
                result[name] = round(self._call(function) * factor)
        return result

    def free_memory(self) -> int | None:
        """Return the bytes of this child's share that are free, with those that PyTorch keeps for later tensors."""
        free_and_all = self._call("mem_get_info")
        if free_and_all is None:
            return None
        free, total = map(int, free_and_all)
        live = self.live_memory() or 0
        return min(free + (self._call("memory_reserved") or 0), int(self._share * total)) - live

    def live_memory(self) -> int | None:
        """Return the bytes of the tensors that live on it."""
        live = self._call("current_allocated_memory" if self.kind == "mps" else "memory_allocated")
        if live is None:
            live = self._statistics().get(CURRENT)
        return None if live is None else int(live)

    def memory(self, work: Work, arguments: tuple[Any, ...]) -> Memory | None:
        """Make one call and return what it took, by its caching allocator."""
        self.wait()
        before = self._statistics()
        if not {CURRENT, PEAK, ALLOCATED} <= before.keys():
            return None
        self._call("reset_peak_memory_stats")
        result = work.function(*arguments, **work.keywords)
        self.wait()
        after = self._statistics()
        del result
        return Memory(
            after[PEAK] - before[CURRENT],
            after[ALLOCATED] - before[ALLOCATED],
            f"{'CUDA' if self.kind == 'cuda' else self.kind} caching allocator",
        )

    def _statistics(self) -> Mapping[str, int]:
        statistics: Mapping[str, int] = self._call("memory_stats") or {}
        return statistics

    def _call(self, name: str, place: tuple[Any, ...] | None = None) -> Any:
        """Return the answer of its module's function of that name, or of PyTorch's for any device; None without one."""
        arguments = self._place if place is None else place
        function: Callable[..., Any] | None = getattr(self._module, name, None)
        if function is not None:
            return function(*arguments)
        if self.kind not in KINDS and name not in GUESSES:
            general = getattr(getattr(torch, "accelerator", None), GENERAL.get(name, name), None)
            with suppress(RuntimeError):  # its allocator is none that PyTorch could ask
                return None if general is None else general(*arguments)
        return None


def _synchronize(kind: str) -> Callable[..., None]:
    """Return the wait for devices of a kind; raises `Unsupported` where nothing waits for them."""
    own = getattr(getattr(torch, kind), "synchronize", None)
    wait: Callable[..., None] | None = own or getattr(getattr(torch, "accelerator", None), "synchronize", None)
    if wait is None:
        hint = "`torch.accelerator` waits for any device from PyTorch 2.6 on"
        raise Unsupported(f"`torch.{kind}` has no `synchronize`", slug="no_device", hint=hint)
    return wait


def _may_round() -> bool:
    """Whether products may be rounded to TF32: from Ampere on, unless NVIDIA's own variable forbids it."""
    return os.environ.get("NVIDIA_TF32_OVERRIDE") != "0" and torch.cuda.get_device_capability() >= (8, 0)


def accelerator_of(device: Any) -> Accelerator | None:
    """Return a device, None for the CPU; raises `Unsupported` for one that is not here."""
    return None if device.type == "cpu" else Accelerator(device)


def device_of(name: str) -> Any:
    """Return PyTorch's device of that name; raises `Unsupported` for one that it cannot have.

    ROCm's devices are `cuda` to PyTorch, and `hip` or `rocm` to others.
    """
    kind, _, index = name.partition(":")
    try:
        return torch.device(f"cuda:{index}" if kind in ("hip", "rocm") and torch.version.hip else name)
    except RuntimeError as error:
        raise no_device("PyTorch", name, names()) from error


def names() -> list[str]:
    """Return the devices that are here, the CPU left out."""
    return [name for kind in _kinds() for name in _names(kind, getattr(torch, kind, None))]


def in_use() -> list[str]:
    """Return the kinds of devices that this process has begun to use."""
    modules = ((kind, getattr(torch, kind, None)) for kind in _kinds() if kind != "mps")
    return [kind for kind, module in modules if getattr(module, "is_initialized", lambda: False)()]


def wait_for_all() -> None:
    """Wait for every device in use; a GPU on which this process has nothing is left alone: a wait takes memory."""
    has_context = getattr(torch._C, "_cuda_hasPrimaryContext", lambda _: True)
    for kind in in_use():
        wait = _synchronize(kind)
        for number in range(getattr(torch, kind).device_count()):
            if kind != "cuda" or has_context(number):
                wait(number)


def _kinds() -> tuple[str, ...]:
    registered = torch._C._get_privateuse1_backend_name()
    return (*KINDS, *([] if registered == NOBODY else [registered]))


def _names(kind: str, module: ModuleType | None) -> list[str]:
    if module is None or not getattr(torch.backends if kind == "mps" else torch, kind).is_available():
        return []
    count = getattr(module, "device_count", lambda: 1)()
    return [f"{kind}:{i}" for i in range(count)]


class EventTimer:
    """Two events in the stream around a block. The launch of the first kernel stands between them."""

    def __init__(self, event: Callable[..., Any], stream: Callable[[], Any] | None = None) -> None:
        """Make two of an `event`, for the current `stream`: MPS has one, without a name."""
        self._begin, self._end = (event(enable_timing=True) for _ in range(2))
        self._stream = (lambda: (stream(),)) if stream else tuple

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
