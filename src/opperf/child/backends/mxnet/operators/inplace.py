"""MXNet's operators with an input as the place of the output."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding, Call, call, parameters


def set_item(data: Any, updates: Any) -> Any:
    """Replace every element."""
    data[:] = updates
    return data


BINDINGS: dict[str, Binding] = {
    "add_inplace": call("nd.elemwise_add", "lhs, rhs", "out=lhs"),
    "subtract_inplace": call("nd.elemwise_sub", "lhs, rhs", "out=lhs"),
    "multiply_inplace": call("nd.elemwise_mul", "lhs, rhs", "out=lhs"),
    "divide_inplace": call("nd.elemwise_div", "lhs, rhs", "out=lhs"),
    "remainder_inplace": call("nd.broadcast_mod", "lhs, rhs", "out=lhs"),
    "copy_to": call("nd.NDArray.copyto", "data, destination"),
    "relu_inplace": call("nd.relu", "data", "out=data"),
    "clip_inplace": call("nd.clip", "data, low, high", "out=data"),
    "set_item": Call(
        "composition:set_item", parameters("data, updates"), function=set_item, note="`data[:] = updates`"
    ),
}
