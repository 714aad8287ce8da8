"""Record steps of a function as an execution trace and a Kineto trace, on one thread; runs where the function can.

python record_step.py FILE:FUNCTION STEM
"""

from __future__ import annotations

import ctypes
import os
import sys
from importlib import import_module
from pathlib import Path

os.environ["ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_RANGE"] = "1"

import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

#: Steps before the recorder is on, and recorded ones.
WARMUP, STEPS = 3, 5


def main() -> None:
    """Run some steps unseen and then some recorded."""
    path, _, name = sys.argv[1].rpartition(":")
    stem = sys.argv[2]
    mallopt = ctypes.CDLL(None).mallopt  # as in `examples/record_trace.py`: freed memory is held on to
    mallopt(-3, 32 * 1024 * 1024)
    mallopt(-1, 64 * 1024 * 1024)
    torch.set_num_threads(1)
    sys.path.insert(0, str(Path(path).parent))
    step = getattr(import_module(Path(path).stem), name)
    for _ in range(WARMUP):
        step()
    observer = ExecutionTraceObserver().register_callback(f"{stem}_et.json")
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, execution_trace_observer=observer) as profiler:
        for _ in range(STEPS):
            step()
    profiler.export_chrome_trace(f"{stem}_kineto.json")


if __name__ == "__main__":
    main()
