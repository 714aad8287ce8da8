"""Laying out elements anew in JAX. Under jit each of these is a copy: a result has memory of its own."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding, call, composed


def flatten(data: Any) -> Any:
    """Return a row for each part of the first dimension."""
    return data.reshape(len(data), -1)


def reshape_like(data: Any, like: Any) -> Any:
    """Return the elements in the shape of another array."""
    return data.reshape(like.shape)


BINDINGS: dict[str, Binding] = {
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
