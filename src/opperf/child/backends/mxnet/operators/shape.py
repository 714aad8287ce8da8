"""Operators that move, join, split and convert data in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.binding import Binding, Call, call, functions, gaps, parameters

# MXNet's operators that lay out elements anew; all of them copy.


def _axes(axes: Any) -> Any:
    return () if axes is None else axes  # the empty tuple reverses


def context(device: str) -> Any:
    """Return the device as MXNet calls it."""
    kind, _, index = device.partition(":")
    return mx.Context("cpu" if kind == "cpu" else "gpu", int(index or 0))


BINDINGS: dict[str, Binding] = {
    **functions(
        "nd",
        {
            ("data", "dim1=axis1, dim2=axis2"): "swap_axes=swapaxes",
            ("data", "shape=shape"): "reshape",
            ("lhs=data, rhs=like", ""): "reshape_like",
            ("data", "axis=axis"): "expand_dims squeeze flip",
            ("data", "reps=repeats"): "tile",
            ("data", "repeats=repeats, axis=axis"): "repeat",
            ("data", "dtype=dtype"): "cast",
            ("data", ""): "copy=identity item=NDArray.asscalar to_numpy=NDArray.asnumpy",
            ("*data", "dim=axis"): "concatenate=concat",
            ("*data", "axis=axis"): "stack",
            ("data", "num_outputs=sections, axis=axis"): "split",
        },
    ),
    "transpose": call("nd.transpose", "data", "axes=axes", adapt={"axes": _axes}),
    "roll": call("np.roll", "a=data, shift=shift", "axis=axis"),
    # nd.pad takes images and volumes only.
    "pad": call("np.pad", "x=data, pad_width=widths", "mode='constant', constant_values=value"),
    # MXNet's brackets, layouts and way to NumPy.
    "get_item": Call(
        "nd.NDArray.__getitem__", parameters("data, index"), function=mx.nd.NDArray.__getitem__, note="`data[index]`"
    ),
    "to_device": call("nd.NDArray.as_in_context", "data, context=device", adapt={"device": context}),
    **gaps("MXNet arrays are always row-major, so there is nothing to copy", "contiguous"),
}
