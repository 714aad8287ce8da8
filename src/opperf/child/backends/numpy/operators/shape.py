"""Operators that move, join, split and convert data in NumPy."""

from __future__ import annotations

import operator

import numpy as np

from opperf.child.backends.arrays.compositions import shapes
from opperf.child.backends.binding import Binding, Missing, composition, compositions, functions

BINDINGS: dict[str, Binding] = {
    # Elements laid out anew in NumPy.
    #
    # `transpose`, `swapaxes`, `reshape`, `expand_dims`, `squeeze` and `flip` return views: that is what users get.
    **functions(
        "numpy",
        {
            ("a=data, axes=axes", ""): "transpose",
            ("a=data, axis1=axis1, axis2=axis2", ""): "swap_axes=swapaxes",
            ("a=data, shape=shape", ""): "reshape",
            ("a=data, axis=axis", ""): "expand_dims",
            ("a=data", "axis=axis"): "squeeze",
            ("m=data", "axis=axis"): "flip",
            ("a=data, shift=shift", "axis=axis"): "roll",
            ("A=data, reps=repeats", ""): "tile",
            ("a=data, repeats=repeats", "axis=axis"): "repeat",
            ("array=data, pad_width=widths", "constant_values=value"): "pad",
            ("a=data", ""): "copy contiguous=ascontiguousarray",
            ("self=data, dtype=dtype", ""): "cast=ndarray.astype",
            ("self=data", ""): "item=ndarray.item",
            ("arrays=data", "axis=axis"): "concatenate stack",
            ("ary=data, indices_or_sections=sections", "axis=axis"): "split",
        },
    ),
    **shapes(),
    # NumPy's brackets and layouts.
    "get_item": composition(operator.getitem, "data, index", note="`data[index]`, a view"),
    "to_device": Missing("NumPy arrays live in host memory only"),
    "to_numpy": Missing("this converts arrays to NumPy arrays, which they are already"),
    **compositions(
        shape_array=(lambda data: np.array(np.shape(data)), "numpy.array of numpy.shape"),
        size_array=(lambda data: np.array([np.size(data)]), "numpy.array of numpy.size"),
    ),
}
