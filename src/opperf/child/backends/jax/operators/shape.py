"""Operators that move, join, split and convert data in JAX."""

from __future__ import annotations

from typing import Any

import jax

from opperf.child.backends.call import Binding, Missing, call, composed

# Laying out elements anew in JAX. Under jit each of these is a copy: a result has memory of its own.


def flatten(data: Any) -> Any:
    """Return a row for each part of the first dimension."""
    return data.reshape(len(data), -1)


def reshape_like(data: Any, like: Any) -> Any:
    """Return the elements in the shape of another array."""
    return data.reshape(like.shape)


_SHAPE: dict[str, Binding] = {
    "transpose": call("jax.numpy.transpose", "data", "axes=axes"),
    "swap_axes": call("jax.numpy.swapaxes", "data, axis1, axis2"),
    "reshape": call("jax.numpy.reshape", "data, shape", also=("jax.lax.reshape",)),
    "reshape_like": composed(reshape_like, "data, like", note="`data.reshape(like.shape)`"),
    "flatten": composed(flatten, "data", note="`data.reshape(len(data), -1)`"),
    "expand_dims": call("jax.numpy.expand_dims", "data, axis"),
    "squeeze": call("jax.numpy.squeeze", "data", "axis=axis"),
    "flip": call("jax.numpy.flip", "data", "axis=axis"),
    "roll": call("jax.numpy.roll", "data, shift", "axis=axis"),
    "tile": call("jax.numpy.tile", "data, repeats"),
    "repeat": call("jax.numpy.repeat", "data, repeats", "axis=axis"),
    "pad": call("jax.numpy.pad", "data, widths", "constant_values=value"),
    "copy": call("jax.numpy.copy", "data"),
    "cast": call("jax.numpy.astype", "data, dtype", also=("jax.lax.convert_element_type",)),
}


# Joining and parting arrays in JAX.

_JOIN_SPLIT: dict[str, Binding] = {
    "concatenate": call("jax.numpy.concatenate", "data", "axis=axis"),
    "stack": call("jax.numpy.stack", "data", "axis=axis"),
    "split": call("jax.numpy.split", "data, sections", "axis=axis"),
}


# JAX's brackets and layouts.


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

_CONVERSION: dict[str, Binding] = {
    "get_item": composed(get_item, "data, index", note="`data[index]`"),
    "shape_array": STATIC,
    "size_array": STATIC,
    "item": ON_HOST,
    "to_device": composed(to_device, "data, device", adapt={"device": device}, note="jax.device_put"),
    "contiguous": Missing("XLA lays arrays out as it likes, and users have no say in it"),
    "to_numpy": ON_HOST,
}


BINDINGS: dict[str, Binding] = {
    **_SHAPE,
    **_JOIN_SPLIT,
    **_CONVERSION,
}
