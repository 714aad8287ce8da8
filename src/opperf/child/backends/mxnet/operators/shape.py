"""Operators that move, join, split and convert data in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.binding import Binding, Call, Missing, call, parameters

# MXNet's operators that lay out elements anew; all of them copy.


def _axes(axes: Any) -> Any:
    return () if axes is None else axes  # the empty tuple reverses


_SHAPE: dict[str, Binding] = {
    "transpose": call("nd.transpose", "data", "axes=axes", adapt={"axes": _axes}),
    "swap_axes": call("nd.swapaxes", "data", "dim1=axis1, dim2=axis2"),
    "reshape": call("nd.reshape", "data", "shape=shape"),
    "reshape_like": call("nd.reshape_like", "lhs=data, rhs=like"),
    "flatten": call("nd.flatten", "data"),
    "expand_dims": call("nd.expand_dims", "data", "axis=axis"),
    "squeeze": call("nd.squeeze", "data", "axis=axis"),
    "flip": call("nd.flip", "data", "axis=axis"),
    "roll": call("np.roll", "a=data, shift=shift", "axis=axis"),
    "tile": call("nd.tile", "data", "reps=repeats"),
    "repeat": call("nd.repeat", "data", "repeats=repeats, axis=axis"),
    # nd.pad takes images and volumes only.
    "pad": call("np.pad", "x=data, pad_width=widths", "mode='constant', constant_values=value"),
    "copy": call("nd.identity", "data"),
    "cast": call("nd.cast", "data", "dtype=dtype"),
}


# MXNet's joining and parting.

_JOIN_SPLIT: dict[str, Binding] = {
    "concatenate": call("nd.concat", "*data", "dim=axis"),
    "stack": call("nd.stack", "*data", "axis=axis"),
    "split": call("nd.split", "data", "num_outputs=sections, axis=axis"),
}


# MXNet's brackets, layouts and way to NumPy.


def context(device: str) -> Any:
    """Return the device as MXNet calls it."""
    kind, _, index = device.partition(":")
    return mx.Context("cpu" if kind == "cpu" else "gpu", int(index or 0))


_CONVERSION: dict[str, Binding] = {
    "get_item": Call(
        "nd.NDArray.__getitem__", parameters("data, index"), function=mx.nd.NDArray.__getitem__, note="`data[index]`"
    ),
    "shape_array": call("nd.shape_array", "data"),
    "size_array": call("nd.size_array", "data"),
    "item": call("nd.NDArray.asscalar", "data"),
    "to_device": call("nd.NDArray.as_in_context", "data, context=device", adapt={"device": context}),
    "contiguous": Missing("MXNet arrays are always row-major, so there is nothing to copy"),
    "to_numpy": call("nd.NDArray.asnumpy", "data"),
}


BINDINGS: dict[str, Binding] = {**_SHAPE, **_JOIN_SPLIT, **_CONVERSION}
