"""NumPy's functions with an input as the place of the output."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed


def set_item(data: Any, updates: Any) -> Any:
    """Replace every element."""
    data[:] = updates
    return data


def copy_to(data: Any, destination: Any) -> Any:
    """Copy, and return what was copied into."""
    np.copyto(destination, data)
    return destination


BINDINGS: dict[str, Binding] = {
    "add_inplace": call("numpy.add", "x1=lhs, x2=rhs", "out=lhs"),
    "subtract_inplace": call("numpy.subtract", "x1=lhs, x2=rhs", "out=lhs"),
    "multiply_inplace": call("numpy.multiply", "x1=lhs, x2=rhs", "out=lhs"),
    "divide_inplace": call("numpy.divide", "x1=lhs, x2=rhs", "out=lhs"),
    "remainder_inplace": call("numpy.remainder", "x1=lhs, x2=rhs", "out=lhs"),
    "copy_to": composed(copy_to, "data, destination", note="numpy.copyto"),
    "relu_inplace": call("numpy.maximum", "x1=data, x2=0", "out=data", note="numpy.maximum with 0"),
    "clip_inplace": call("numpy.clip", "a=data, a_min=low, a_max=high", "out=data"),
    "set_item": composed(set_item, "data, updates", note="`data[:] = updates`"),
}
