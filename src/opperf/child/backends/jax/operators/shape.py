"""Operators that move, join, split and convert data in JAX."""

from __future__ import annotations

from typing import Any

import jax

from opperf.child.backends.binding import Binding, Missing, call, composition, compositions


def device(name: str) -> Any:
    """Return the device of a name."""
    platform, _, index = name.partition(":")
    return jax.devices(platform)[int(index or 0)]


def to_device(data: Any, device: Any) -> Any:
    """Return the array on a device."""
    return jax.device_put(data, device)


ON_HOST = Missing("a JAX array caches its host copy, so only the first conversion does any work")
STATIC = Missing("shapes are constants when JAX compiles, so there is nothing to compute")


BINDINGS: dict[str, Binding] = {
    # Laying out elements anew in JAX. Under jit each of these is a copy: a result has memory of its own.
    "transpose": call("jax.numpy.transpose", "data", "axes=axes"),
    "swap_axes": call("jax.numpy.swapaxes", "data, axis1, axis2"),
    "reshape": call("jax.numpy.reshape", "data, shape", also=("jax.lax.reshape",)),
    "expand_dims": call("jax.numpy.expand_dims", "data, axis"),
    "squeeze": call("jax.numpy.squeeze", "data", "axis=axis"),
    "flip": call("jax.numpy.flip", "data", "axis=axis"),
    "roll": call("jax.numpy.roll", "data, shift", "axis=axis"),
    "tile": call("jax.numpy.tile", "data, repeats"),
    "repeat": call("jax.numpy.repeat", "data, repeats", "axis=axis"),
    "pad": call("jax.numpy.pad", "data, widths", "constant_values=value"),
    "copy": call("jax.numpy.copy", "data"),
    "cast": call("jax.numpy.astype", "data, dtype", also=("jax.lax.convert_element_type",)),
    **compositions(
        reshape_like=(lambda data, like: data.reshape(like.shape), "`data.reshape(like.shape)`"),
        flatten=(lambda data: data.reshape(len(data), -1), "`data.reshape(len(data), -1)`"),
    ),
    # Joining and parting arrays in JAX.
    "concatenate": call("jax.numpy.concatenate", "data", "axis=axis"),
    "stack": call("jax.numpy.stack", "data", "axis=axis"),
    "split": call("jax.numpy.split", "data, sections", "axis=axis"),
    # JAX's brackets and layouts.
    "shape_array": STATIC,
    "size_array": STATIC,
    "item": ON_HOST,
    "to_device": composition(to_device, "data, device", adapt={"device": device}, note="jax.device_put"),
    "contiguous": Missing("XLA chooses the layout of arrays; users cannot"),
    "to_numpy": ON_HOST,
    **compositions(get_item=(lambda data, index: data[index], "`data[index]`")),
}
