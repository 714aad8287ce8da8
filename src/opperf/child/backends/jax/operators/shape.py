"""Operators that move, join, split and convert data in JAX."""

from __future__ import annotations

from typing import Any

import jax

from opperf.child.backends.arrays.compositions import shapes
from opperf.child.backends.binding import Binding, composition, compositions, functions, gaps


def device(name: str) -> Any:
    """Return the device of a name."""
    platform, _, index = name.partition(":")
    return jax.devices(platform)[int(index or 0)]


def to_device(data: Any, device: Any) -> Any:
    return jax.device_put(data, device)


BINDINGS: dict[str, Binding] = {
    # Laying out elements anew in JAX. Under jit each of these is a copy: a result has memory of its own.
    **functions(
        "jax.numpy",
        {
            ("data", "axes=axes"): "transpose",
            ("data, axis1, axis2", ""): "swap_axes=swapaxes",
            ("data, axis", ""): "expand_dims",
            ("data", "axis=axis"): "squeeze flip concatenate stack",
            ("data, shift", "axis=axis"): "roll",
            ("data, repeats", ""): "tile",
            ("data, repeats", "axis=axis"): "repeat",
            ("data, widths", "constant_values=value"): "pad",
            ("data", ""): "copy",
            ("data, sections", "axis=axis"): "split",
        },
    ),
    **functions(
        "jax.numpy",
        {("data, shape", ""): "reshape", ("data, dtype", ""): "cast=astype|convert_element_type"},
        also=("jax.lax.{}",),
    ),
    **shapes(),
    # JAX's brackets and layouts.
    **gaps("shapes are constants when JAX compiles, so there is nothing to compute", "shape_array size_array"),
    **gaps("a JAX array caches its host copy, so only the first conversion does any work", "item to_numpy"),
    "to_device": composition(to_device, adapt={"device": device}, note="jax.device_put"),
    **gaps("XLA chooses the layout of arrays; users cannot", "contiguous"),
    **compositions(get_item=(lambda data, index: data[index], "`data[index]`")),
}
