"""MXNet's brackets, layouts and way to NumPy."""

from __future__ import annotations

import mxnet as mx

from opperf.backends.call import Binding, Call, Missing, call, parameters

BINDINGS: dict[str, Binding] = {
    "get_item": Call(
        "nd.NDArray.__getitem__", parameters("data, index"), function=mx.nd.NDArray.__getitem__, note="`data[index]`"
    ),
    "contiguous": Missing("arrays of MXNet always lie row by row, so there is nothing to lay out anew"),
    "to_numpy": call("nd.NDArray.asnumpy", "data"),
}
