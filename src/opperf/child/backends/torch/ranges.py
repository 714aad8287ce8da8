"""Ranges of NVTX, by which NVIDIA's tools know whose a kernel is, of ITT, Intel's, and of PyTorch's own observer.

Those that are started here are of the process, not of a thread: backward launches its kernels from a thread of
PyTorch's own. Those that operators emit are of the thread that the operator runs in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch

from opperf.domain.backend import Unsupported


def start(name: str) -> int:
    """Begin a range, and return what ends it; raises `Unsupported` in a build without NVTX."""
    try:
        mark: int = torch.cuda.nvtx.range_start(name)
    except (
        AttributeError,
        RuntimeError,
    ) as error:  # a build for CPUs has a stub in its place, without ranges of this kind
        raise Unsupported(
            "this build of PyTorch has no NVTX, so no tool can tell which operator a kernel belongs to",
            slug="no_ranges",
            hint="take a build for CUDA",
        ) from error
    return mark


def end(mark: int) -> None:
    """End a range."""
    torch.cuda.nvtx.range_end(mark)


class Observer:
    """PyTorch's observer of execution traces, on while a call is observed; its file is whole when it is closed."""

    def __init__(self, path: str) -> None:
        self._observer = torch.profiler.ExecutionTraceObserver().register_callback(path)

    @contextmanager
    def observe(self, name: str) -> Iterator[None]:
        """Record what runs inside the block, below a label."""
        self._observer.start()
        try:
            with torch.profiler.record_function(name):
                yield
        finally:
            self._observer.stop()

    def close(self) -> None:
        """Finish the file."""
        self._observer.unregister_callback()


def emitting(kind: str) -> AbstractContextManager[object]:
    """Return a context in which every operator emits a range of its name, `nvtx` or `itt`.

    It is a mode of PyTorch's profiler, which has one mode at a time. Raises `Unsupported` in a build without such
    ranges.
    """
    there = torch.cuda.is_available() if kind == "nvtx" else torch.profiler.itt.is_available()
    if not there:
        raise Unsupported(
            f"PyTorch has no {kind.upper()} here, so no tool can tell operators apart",
            slug="no_ranges",
            hint="take a build for CUDA, on a machine with a GPU" if kind == "nvtx" else "take a build with USE_ITT",
        )
    profiler = torch.autograd.profiler
    context: AbstractContextManager[object] = profiler.emit_nvtx() if kind == "nvtx" else profiler.emit_itt()
    return context
