"""MXNet's operators that lay out elements anew; all of them copy."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding, call


def _axes(axes: Any) -> Any:
    return () if axes is None else axes  # the empty tuple reverses


BINDINGS: dict[str, Binding] = {
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
