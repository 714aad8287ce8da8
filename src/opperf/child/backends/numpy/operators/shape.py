"""Operators that move, join, split and convert data in NumPy."""

from __future__ import annotations

import operator

import numpy as np

from opperf.child.backends.binding import Binding, Missing, call, composition, compositions

BINDINGS: dict[str, Binding] = {
    # Elements laid out anew in NumPy.
    #
    # `transpose`, `swapaxes`, `reshape`, `expand_dims`, `squeeze` and `flip` return views: that is what users get.
    "transpose": call("numpy.transpose", "a=data, axes=axes"),
    "swap_axes": call("numpy.swapaxes", "a=data, axis1=axis1, axis2=axis2"),
    "reshape": call("numpy.reshape", "a=data, shape=shape"),
    "expand_dims": call("numpy.expand_dims", "a=data, axis=axis"),
    "squeeze": call("numpy.squeeze", "a=data", "axis=axis"),
    "flip": call("numpy.flip", "m=data", "axis=axis"),
    "roll": call("numpy.roll", "a=data, shift=shift", "axis=axis"),
    "tile": call("numpy.tile", "A=data, reps=repeats"),
    "repeat": call("numpy.repeat", "a=data, repeats=repeats", "axis=axis"),
    "pad": call("numpy.pad", "array=data, pad_width=widths", "constant_values=value"),
    "copy": call("numpy.copy", "a=data"),
    "cast": call("numpy.ndarray.astype", "self=data, dtype=dtype"),
    **compositions(
        reshape_like=(lambda data, like: data.reshape(like.shape), "`data.reshape(like.shape)`"),
        flatten=(lambda data: data.reshape(len(data), -1), "`data.reshape(len(data), -1)`"),
    ),
    # Arrays joined and parted in NumPy; the parts are views.
    "concatenate": call("numpy.concatenate", "arrays=data", "axis=axis"),
    "stack": call("numpy.stack", "arrays=data", "axis=axis"),
    "split": call("numpy.split", "ary=data, indices_or_sections=sections", "axis=axis"),
    # NumPy's brackets and layouts.
    "get_item": composition(operator.getitem, "data, index", note="`data[index]`, a view"),
    "item": call("numpy.ndarray.item", "self=data"),
    "to_device": Missing("NumPy arrays live in host memory only"),
    "contiguous": call("numpy.ascontiguousarray", "a=data"),
    "to_numpy": Missing("this converts arrays to NumPy arrays, which they are already"),
    **compositions(
        shape_array=(lambda data: np.array(np.shape(data)), "numpy.array of numpy.shape"),
        size_array=(lambda data: np.array([np.size(data)]), "numpy.array of numpy.size"),
    ),
}
