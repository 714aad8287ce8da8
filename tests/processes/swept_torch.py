"""Sweep the cache of what stands for a CUDA device, in a Python that has PyTorch; prints what became of it as JSON."""

from __future__ import annotations

import json
from functools import partial
from types import SimpleNamespace

import torch

from opperf.child.backends.torch.accelerator import Accelerator
from opperf.child.backends.torch.runtime import TorchBackend
from opperf.domain.plan import Side

CACHE_BYTES = 3 << 20
torch.cuda.is_available, torch.cuda.device_count, torch.cuda.set_device = lambda: True, lambda: 1, lambda device: None
torch.cuda.get_device_properties = lambda device: SimpleNamespace(L2_cache_size=CACHE_BYTES)
zeros, torch.zeros = torch.zeros, lambda *size, device, **more: zeros(*size, **more)

device = Accelerator(torch.device("cuda:0"))
sweep = device.sweep()
assert sweep is not None
sweep()
sweep()
untold = []
for told in ({}, {"L2_cache_size": 0}):  # PyTorch before 2.5, and a device that has none
    torch.cuda.get_device_properties = partial(lambda told, device: SimpleNamespace(**told), told)
    untold.append(device.sweep())
print(
    json.dumps(
        {
            "bytes": sweep.memory.nbytes,
            "written": bool((sweep.memory == 2).all()),
            "untold": untold,
            "on a CPU": TorchBackend(Side("torch")).cache_sweep(),
        }
    )
)
