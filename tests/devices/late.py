"""A device for PyTorch, `late:0`, which is done later than its calls return; PyTorch loads it when it is imported.

Its tensors lie in the memory of the host. A call is computed when it is made, and done only after all that was queued
before it and a kernel of its own, which takes `KERNEL` seconds, or those of `SLOW`, and more for memory that is not in
the device's cache. Its streams do not wait for each other. To wait for the device is to sleep until all are done, and
events are moments of a stream. An index out of range is found by the kernel, as on a real device: whoever
waits next is told, and the device answers nothing else from then on.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from weakref import finalize

import torch
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "late"
#: Seconds that a kernel takes, and those of some operators.
KERNEL, SLOW = 20e-6, {"aten::mm": 5e-3}
#: Bytes of its memory and of its cache, and those that it reads in a second where they are not in the cache.
MEMORY, CACHE, BYTES_PER_SECOND = 1 << 30, 1 << 23, 1e9


class Stream:
    """What is done in order, as the moment when it will be done."""

    def __init__(self, device: object = None) -> None:
        self.done = 0.0


class Queue:
    """What the device has to do: its streams, of which calls go into the current one, and the last moment of all."""

    def __init__(self) -> None:
        self.current = Stream()
        self.done = 0.0
        self.error = ""
        self.cache: OrderedDict[int, int] = OrderedDict()

    def launch(self, name: str, tensors: list[Any]) -> None:
        """Put a kernel behind everything else."""
        missed = sum(self._miss(tensor.untyped_storage()) for tensor in tensors)
        began = max(self.current.done, time.perf_counter())
        self.current.done = began + SLOW.get(name, KERNEL) + missed / BYTES_PER_SECOND
        self.done = max(self.done, self.current.done)

    def _miss(self, storage: Any) -> int:
        """Return the bytes of a storage that the cache lacks, and keep the last that fit."""
        present = self.cache.pop(storage._cdata, 0)
        self.cache[storage._cdata] = storage.nbytes()
        while sum(self.cache.values()) > CACHE:
            self.cache.popitem(last=False)
        return int(storage.nbytes() - present)

    def wait(self, *_: object) -> None:
        """Sleep until all is done; raises what a kernel has found."""
        while (left := self.done - time.perf_counter()) > 0:
            time.sleep(left)
        if self.error:
            raise RuntimeError(self.error)


class Memory:
    """The memory of the host that tensors of the device stand for."""

    def __init__(self) -> None:
        self._hosts: dict[int, Any] = {}
        self._live: set[int] = set()
        self.current = self.peak = self.allocated = 0
        self.most = MEMORY

    def tensor(self, host: Any) -> Any:
        """Return a tensor of the device for one of the host."""
        result = torch._C._acc.create_empty_tensor(list(host.shape), host.dtype)
        storage = result.untyped_storage()
        self._hosts[storage._cdata] = host
        finalize(storage, self._hosts.pop, storage._cdata)
        self._count(host.untyped_storage())
        return result

    def host(self, value: Any) -> Any:
        """Return what an argument is on the host."""
        if isinstance(value, torch.Tensor) and value.device.type == NAME:
            return self._hosts[value.untyped_storage()._cdata]
        return torch.device("cpu") if isinstance(value, torch.device) else value

    def _count(self, storage: Any) -> None:
        if storage._cdata not in self._live:  # a view has that of another tensor
            if self.current + storage.nbytes() > self.most:
                raise torch.OutOfMemoryError(f"late out of memory: {self.most} bytes are for this process")
            self._live.add(storage._cdata)
            self.current += storage.nbytes()
            self.allocated += storage.nbytes()
            self.peak = max(self.peak, self.current)
            finalize(storage, self._free, storage._cdata, storage.nbytes())

    def _free(self, key: int, count: int) -> None:
        self._live.discard(key)
        QUEUE.cache.pop(key, None)
        self.current -= count


QUEUE, ALLOCATOR = Queue(), Memory()


def run(operator: Any, *arguments: Any, **keywords: Any) -> Any:
    """Compute an operator, and queue its kernel."""
    call = (arguments, keywords)
    host_arguments, host_keywords = hosts = tree_map(ALLOCATOR.host, call)
    try:
        result = operator(*host_arguments, **host_keywords)
    except IndexError as error:
        QUEUE.error = f"late: a kernel found this: {error}"
        result = operator(*tree_map(_within, host_arguments), **host_keywords)
    inputs, outputs = (
        [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)] for values in (hosts, result)
    )
    QUEUE.launch(operator._schema.name, [*inputs, *outputs])
    if not outputs:
        QUEUE.wait()  # a number is on the host
    own = {id(host): value for host, value in zip(tree_leaves(hosts), tree_leaves(call))}

    def on_device(leaf: Any) -> Any:
        return own[id(leaf)] if id(leaf) in own else ALLOCATOR.tensor(leaf)  # what was written in place is the same

    return tree_map(lambda leaf: on_device(leaf) if isinstance(leaf, torch.Tensor) else leaf, result)


def _within(value: Any) -> Any:
    """Return an index that is within any range."""
    is_index = isinstance(value, torch.Tensor) and not value.is_floating_point()
    return torch.zeros_like(value) if is_index else value


def copy(source: Any, target: Any, non_blocking: bool = False) -> Any:
    """Copy to or from the device; the host has what it asked for when all is done."""
    ALLOCATOR.host(target).copy_(ALLOCATOR.host(source))
    QUEUE.launch("copy", [])
    if target.device.type != NAME:
        QUEUE.wait()
    return target


def empty(size: Any, *, dtype: Any = None, **_: object) -> Any:
    """Return memory of the device."""
    return ALLOCATOR.tensor(torch.empty(size, dtype=dtype))


def empty_strided(size: Any, stride: Any, *, dtype: Any = None, **_: object) -> Any:
    """Return memory of the device, whatever the strides."""
    return empty(size, dtype=dtype)


class Event:
    """A moment of a stream."""

    def __init__(self, enable_timing: bool = False) -> None:
        self.at = 0.0

    def record(self, stream: Stream | None = None) -> None:
        """Stand behind all that was queued."""
        self.at = max((stream or QUEUE.current).done, time.perf_counter())

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds until another event."""
        return 1e3 * (end.at - self.at)


class Module:
    """What `torch.late` is."""

    Event, Stream = Event, Stream
    synchronize = staticmethod(QUEUE.wait)

    def is_available(self) -> bool:
        """Whether the device is here."""
        return True

    is_initialized = is_available

    def _is_in_bad_fork(self) -> bool:
        return False

    def device_count(self) -> int:
        """Return how many there are."""
        return 1

    def current_device(self) -> int:
        """Return the number of the only one."""
        return 0

    def set_device(self, device: object) -> None:
        """Choose the only one."""

    def current_stream(self, device: object = None) -> object:
        """Return the stream that calls go into."""
        return QUEUE.current

    @contextmanager
    def stream(self, stream: Any) -> Iterator[None]:
        """Have calls go into another one."""
        before, QUEUE.current = QUEUE.current, stream
        try:
            yield
        finally:
            QUEUE.current = before

    def manual_seed_all(self, seed: int) -> None:
        """Draw nothing on the device."""

    def get_device_name(self, device: object) -> str:
        """Return what its maker calls it."""
        return "Late 1"

    def get_device_properties(self, device: object) -> object:
        """Return what is present of it."""
        return SimpleNamespace(L2_cache_size=CACHE)

    def clock_rate(self, device: object) -> float:
        """Return its clock in MHz."""
        return 1500.0

    def temperature(self, device: object) -> float:
        """Say that only an administrator may know it."""
        raise RuntimeError("elevated privileges are needed")

    def set_per_process_memory_fraction(self, fraction: float, device: object) -> None:
        """Give this process no more than a share of the memory."""
        ALLOCATOR.most = int(fraction * MEMORY)

    def mem_get_info(self, device: object) -> tuple[int, int]:
        """Return the free memory and all."""
        return MEMORY - ALLOCATOR.current, MEMORY

    def memory_allocated(self, device: object) -> int:
        """Return the bytes of live tensors."""
        return ALLOCATOR.current

    memory_reserved = memory_allocated

    def reset_peak_memory_stats(self, device: object) -> None:
        """Begin a new peak."""
        ALLOCATOR.peak = ALLOCATOR.current

    def memory_stats(self, device: object) -> dict[str, int]:
        """Return what was allocated so far, by PyTorch's names."""
        return {f"allocated_bytes.all.{name}": getattr(ALLOCATOR, name) for name in ("current", "peak", "allocated")}


def register() -> None:
    """Make the device present; PyTorch calls this when it is imported."""
    _setup_privateuseone_for_python_backend(NAME, Module())
    for name, function in (
        ("_copy_from", copy),
        ("empty.memory_format", empty),
        ("empty_strided", empty_strided),
    ):
        _OPERATORS.impl(name, function, "PrivateUse1")
    _OTHERS.fallback(run, "PrivateUse1")


_OPERATORS, _OTHERS = torch.library.Library("aten", "IMPL"), torch.library.Library("_", "IMPL")
