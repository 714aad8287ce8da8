"""Watch calls by PyTorch's profiler on a CPU, whose trace gets what a GPU would add; prints what was read as JSON."""

from __future__ import annotations

import json
from typing import Any

import torch
from torch.profiler import ProfilerActivity

from opperf.child.backends.common.launches import read_kineto
from opperf.child.backends.torch import kernels
from opperf.child.backends.torch.runtime import TorchBackend
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound
from opperf.domain.kernels import CallActivity
from opperf.domain.plan import Side

backend = TorchBackend(Side("torch"))
work = backend.forward(Bound(torch.add, (torch.ones(64), torch.ones(64))))
watch = kernels.Watch(backend.wait, (ProfilerActivity.CPU,))


def with_a_gpu(document: dict[str, Any]) -> list[CallActivity]:
    """Read a trace with a launch for each `aten::add` in it, and a kernel of 2 us after each."""
    adds = [event for event in document["traceEvents"] if event["name"] == "aten::add"]
    for number, event in enumerate(adds, 1):
        linked = {"ph": "X", "ts": event["ts"], "dur": 1.0, "args": {"correlation": number}}
        document["traceEvents"] += [
            {**linked, "cat": "cuda_runtime", "name": "cudaLaunchKernel"},
            {**linked, "cat": "kernel", "name": "add", "ts": event["ts"] + 1e6, "dur": 2.0},
        ]
    return read_kineto(document)


why = None
try:
    watch(work, 3)
except Unsupported as unsupported:
    why = unsupported.slug
vars(kernels)["read_kineto"] = with_a_gpu
calls = watch(work, 3)
print(json.dumps({"a CPU alone": why, "busy": [one.busy_ns for one in calls], "long": all(c.wall_ns for c in calls)}))
