"""Sweep the cache of what stands for a CUDA device, in a Python that has PyTorch; prints what became of it as JSON."""

from __future__ import annotations

import json
from functools import partial
from types import SimpleNamespace

import torch

from opperf.child.backends.torch.runtime import CacheSweep, TorchBackend
from opperf.domain.plan import Side

CACHE_BYTES = 3 << 20
torch.cuda.get_device_properties = lambda device: SimpleNamespace(L2_cache_size=CACHE_BYTES)

sweep = CacheSweep.of(torch.device("cpu"))
assert sweep is not None
sweep()
sweep()
untold = []
for told in ({}, {"L2_cache_size": 0}):  # PyTorch before 2.5, and a device that has none
    torch.cuda.get_device_properties = partial(lambda told, device: SimpleNamespace(**told), told)
    untold.append(CacheSweep.of(torch.device("cpu")))
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
