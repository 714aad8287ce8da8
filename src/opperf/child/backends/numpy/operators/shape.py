"""Operators that move, join, split and convert data in NumPy."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, Missing, call, composed

# Elements laid out anew in NumPy.
#
# `transpose`, `swapaxes`, `reshape`, `expand_dims`, `squeeze` and `flip` return views: that is what users get.


def flatten(data: Any) -> Any:
    """Return a row for each part of the first dimension."""
    return data.reshape(len(data), -1)


def reshape_like(data: Any, like: Any) -> Any:
    """Return the elements in the shape of another array."""
    return data.reshape(like.shape)


_SHAPE: dict[str, Binding] = {
    "transpose": call("numpy.transpose", "a=data, axes=axes"),
    "swap_axes": call("numpy.swapaxes", "a=data, axis1=axis1, axis2=axis2"),
    "reshape": call("numpy.reshape", "a=data, shape=shape"),
    "reshape_like": composed(reshape_like, "data, like", note="`data.reshape(like.shape)`"),
    "flatten": composed(flatten, "data", note="`data.reshape(len(data), -1)`"),
    "expand_dims": call("numpy.expand_dims", "a=data, axis=axis"),
    "squeeze": call("numpy.squeeze", "a=data", "axis=axis"),
    "flip": call("numpy.flip", "m=data", "axis=axis"),
    "roll": call("numpy.roll", "a=data, shift=shift", "axis=axis"),
    "tile": call("numpy.tile", "A=data, reps=repeats"),
    "repeat": call("numpy.repeat", "a=data, repeats=repeats", "axis=axis"),
    "pad": call("numpy.pad", "array=data, pad_width=widths", "constant_values=value"),
    "copy": call("numpy.copy", "a=data"),
    "cast": call("numpy.ndarray.astype", "self=data, dtype=dtype"),
}


# Arrays joined and parted in NumPy; the parts are views.

_JOIN_SPLIT: dict[str, Binding] = {
    "concatenate": call("numpy.concatenate", "arrays=data", "axis=axis"),
    "stack": call("numpy.stack", "arrays=data", "axis=axis"),
    "split": call("numpy.split", "ary=data, indices_or_sections=sections", "axis=axis"),
}


# NumPy's brackets and layouts.


def shape_array(data: Any) -> Any:
    """Return the shape."""
    return np.array(np.shape(data))


def size_array(data: Any) -> Any:
    """Return the number of elements."""
    return np.array([np.size(data)])


_CONVERSION: dict[str, Binding] = {
    "get_item": composed(operator.getitem, "data, index", note="`data[index]`, a view"),
    "shape_array": composed(shape_array, "data", note="numpy.array of numpy.shape"),
    "size_array": composed(size_array, "data", note="numpy.array of numpy.size"),
    "item": call("numpy.ndarray.item", "self=data"),
    "to_device": Missing("NumPy's arrays are in the memory of the host and nowhere else"),
    "contiguous": call("numpy.ascontiguousarray", "a=data"),
    "to_numpy": Missing("NumPy's arrays are what this makes of those of other frameworks"),
}


BINDINGS: dict[str, Binding] = {
    **_SHAPE,
    **_JOIN_SPLIT,
    **_CONVERSION,
}
