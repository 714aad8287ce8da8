"""MXNet's brackets, layouts and way to NumPy."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.call import Binding, Call, Missing, call, parameters


def context(device: str) -> Any:
    """Return the device as MXNet calls it."""
    kind, _, index = device.partition(":")
    return mx.Context("cpu" if kind == "cpu" else "gpu", int(index or 0))


BINDINGS: dict[str, Binding] = {
    "get_item": Call(
        "nd.NDArray.__getitem__", parameters("data, index"), function=mx.nd.NDArray.__getitem__, note="`data[index]`"
    ),
    "shape_array": call("nd.shape_array", "data"),
    "size_array": call("nd.size_array", "data"),
    "item": call("nd.NDArray.asscalar", "data"),
    "to_device": call("nd.NDArray.as_in_context", "data, context=device", adapt={"device": context}),
    "contiguous": Missing("arrays of MXNet always lie row by row, so there is nothing to lay out anew"),
    "to_numpy": call("nd.NDArray.asnumpy", "data"),
}
