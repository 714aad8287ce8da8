"""Sweep the cache of what stands for a CUDA device, in a Python that has PyTorch; prints what became of it as JSON."""

from __future__ import annotations

import json
from types import SimpleNamespace

import torch

from opperf.child.backends.torch.runtime import CacheSweep, TorchBackend
from opperf.domain.plan import Side

CACHE_BYTES = 3 << 20
torch.cuda.get_device_properties = lambda device: SimpleNamespace(L2_cache_size=CACHE_BYTES)

sweep = CacheSweep.of(torch.device("cpu"))
sweep()
sweep()
print(
    json.dumps(
        {
            "bytes": sweep.memory.nbytes,
            "written": bool((sweep.memory == 2).all()),
            "on a CPU": TorchBackend(Side("torch")).cache_sweep(),
        }
    )
)
