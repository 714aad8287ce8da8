"""JAX's brackets and layouts."""

from __future__ import annotations

from typing import Any

import jax

from opperf.child.backends.call import Binding, Missing, composed


def get_item(data: Any, index: int) -> Any:
    """Return the part at the index."""
    return data[index]


def device(name: str) -> Any:
    """Return the device of a name."""
    platform, _, index = name.partition(":")
    return jax.devices(platform)[int(index or 0)]


def to_device(data: Any, device: Any) -> Any:
    """Return the array on a device."""
    return jax.device_put(data, device)


ON_HOST = Missing("an array of JAX keeps its copy on the host, so only its first conversion does any work")
STATIC = Missing("shapes are known before a program of JAX runs, so there is nothing to compute")

BINDINGS: dict[str, Binding] = {
    "get_item": composed(get_item, "data, index", note="`data[index]`"),
    "shape_array": STATIC,
    "size_array": STATIC,
    "item": ON_HOST,
    "to_device": composed(to_device, "data, device", adapt={"device": device}, note="jax.device_put"),
    "contiguous": Missing("XLA lays arrays out as it likes, and users have no say in it"),
    "to_numpy": ON_HOST,
}
