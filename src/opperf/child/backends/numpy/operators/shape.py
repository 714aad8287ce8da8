"""Elements laid out anew in NumPy.

`transpose`, `swapaxes`, `reshape`, `expand_dims`, `squeeze` and `flip` return views: that is what users get.
"""

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
