"""The devices that TensorFlow sees beside the CPU, and how it is kept to one and to its part of that one's memory.

`config` is `tf.config`.
"""

from __future__ import annotations

import os
from typing import Any

from opperf.child.measure.gpu import gpu_of
from opperf.domain.backend import no_device
from opperf.domain.device import memory_share


def accelerators(config: Any) -> list[Any]:
    """Return all devices but the CPU, and what older releases compile programs for it with."""
    return [device for device in config.list_physical_devices() if not device.device_type.endswith("CPU")]


def kind_of(device: Any) -> str:
    """Return the kind of a device as users write it: TensorFlow calls a CUDA device `GPU`."""
    return "cuda" if device.device_type == "GPU" else str(device.device_type).lower()


def names(config: Any) -> list[str]:
    """Return how users write the devices beside the CPU."""
    kinds = [kind_of(device) for device in accelerators(config)]
    return [f"{kind}:{i}" for kind in dict.fromkeys(kinds) for i in range(kinds.count(kind))]


def choose(config: Any, name: str) -> int | None:
    """Show TensorFlow no accelerator but the one of that name, which it then takes for everything.

    Returns the bytes that it may take of one that it shares. Raises `Unsupported` for one that is not here.
    """
    kind, _, index = name.partition(":")
    if kind == "cpu":
        for hidden in {device.device_type for device in accelerators(config)}:
            config.set_visible_devices([], hidden)
        return None
    alike = [device for device in accelerators(config) if kind_of(device) == kind]
    if int(index or 0) >= len(alike):
        raise no_device("TensorFlow", name, names(config))
    device = alike[int(index or 0)]
    config.set_visible_devices([device], device.device_type)
    limit = _limit(name)
    if limit is None:
        config.experimental.set_memory_growth(device, True)  # it takes the whole device otherwise
    else:  # which it takes at once: with a limit there is no growth
        config.set_logical_device_configuration(device, [config.LogicalDeviceConfiguration(memory_limit=limit >> 20)])
    return limit


def _limit(name: str) -> int | None:
    """Return the bytes of a share of a GPU; None for a whole one, and for one that NVML does not know."""
    share = memory_share(os.environ)
    gpu = gpu_of(name) if share < 1 else None
    total = None if gpu is None else gpu.total_memory()
    return None if total is None else int(share * total)
