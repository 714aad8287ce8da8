"""What one call allocates in PyTorch.

On a CPU the profiler's `[memory]` events, one for each allocation and release, are summed in the order of time; the
running maximum is the peak. The profiler's own table (`key_averages`) misses scratch space. On CUDA the allocator
keeps the peak.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import _disable_profiler, _enable_profiler, _prepare_profiler
from torch.autograd.profiler import ProfilerActivity, ProfilerConfig, ProfilerState

from opperf.domain.backend import Work
from opperf.domain.measurement import Memory


def of_call(work: Work, device: Any) -> Memory | None:
    """Make one call and return what it took."""
    arguments = work.arguments if work.before is None else work.before()
    with work.scope():
        if device.type == "cuda":
            return _on_cuda(work, arguments, device)
        return _on_cpu(work, arguments)


def _on_cpu(work: Work, arguments: tuple[Any, ...]) -> Memory:
    activities = {ProfilerActivity.CPU}
    config = ProfilerConfig(
        ProfilerState.KINETO, False, True, False, False, False, torch._C._profiler._ExperimentalConfig()
    )
    _prepare_profiler(config, activities)
    _enable_profiler(config, activities)
    try:
        result = work.function(*arguments, **work.keywords)
    finally:
        recording = _disable_profiler()
    del result  # its release comes after the profiler's end: the peak is while it lives
    steps = sorted((event.start_ns(), event.nbytes()) for event in recording.events() if event.name() == "[memory]")
    live = peak = allocated = 0
    for _, nbytes in steps:
        live += nbytes
        peak = max(peak, live)
        allocated += max(0, nbytes)
    return Memory(peak, allocated, "profiler allocation events")


def _on_cuda(work: Work, arguments: tuple[Any, ...], device: Any) -> Memory:
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_stats(device)
    result = work.function(*arguments, **work.keywords)
    torch.cuda.synchronize(device)
    after = torch.cuda.memory_stats(device)
    del result
    return Memory(
        after["allocated_bytes.all.peak"] - before["allocated_bytes.all.current"],
        after["allocated_bytes.all.allocated"] - before["allocated_bytes.all.allocated"],
        "CUDA caching allocator",
    )
