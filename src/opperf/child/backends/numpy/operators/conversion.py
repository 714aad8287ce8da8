"""NumPy's brackets and layouts."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, Missing, call, composed


def shape_array(data: Any) -> Any:
    """Return the shape."""
    return np.array(np.shape(data))


def size_array(data: Any) -> Any:
    """Return the number of elements."""
    return np.array([np.size(data)])


BINDINGS: dict[str, Binding] = {
    "get_item": composed(operator.getitem, "data, index", note="`data[index]`, a view"),
    "shape_array": composed(shape_array, "data", note="numpy.array of numpy.shape"),
    "size_array": composed(size_array, "data", note="numpy.array of numpy.size"),
    "item": call("numpy.ndarray.item", "self=data"),
    "to_device": Missing("NumPy's arrays are in the memory of the host and nowhere else"),
    "contiguous": call("numpy.ascontiguousarray", "a=data"),
    "to_numpy": Missing("NumPy's arrays are what this makes of those of other frameworks"),
}
