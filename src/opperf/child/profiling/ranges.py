"""Ranges that name operators to a tool that watches the process from outside: NVTX for NVIDIA's, ITT for Intel's.

PyTorch emits them in a mode of its own profiler, which has one mode at a time: they are entered instead of its
watcher. MXNet emits them while its profiler runs, so beside its watcher, and XLA by itself.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from opperf.child import backends

#: Who names its operators without being asked, in builds that can.
BY_ITSELF = {"nvtx": ("jax", "mxnet"), "itt": ("mxnet",)}


def emitting(kind: str, framework: str) -> AbstractContextManager[object]:
    """Return what has operators named by ranges, `nvtx` or `itt`, while it is entered.

    Raises `Unsupported` where the framework, or its build, has no such ranges.
    """
    if framework in BY_ITSELF[kind]:
        return nullcontext()
    context: AbstractContextManager[object] = backends.ranges(framework).emitting(kind)
    return context
