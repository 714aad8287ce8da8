"""MXNet's operators of tensors that are repeated to a common shape."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call
from opperf.child.backends.mxnet.operators.elementwise_binary import COMPARES

BINDINGS: dict[str, Binding] = {
    "broadcast_add": call("nd.broadcast_add", "lhs, rhs"),
    "broadcast_subtract": call("nd.broadcast_sub", "lhs, rhs"),
    "broadcast_multiply": call("nd.broadcast_mul", "lhs, rhs"),
    "broadcast_divide": call("nd.broadcast_div", "lhs, rhs"),
    "broadcast_power": call("nd.broadcast_power", "lhs, rhs"),
    "broadcast_maximum": call("nd.broadcast_maximum", "lhs, rhs"),
    "broadcast_minimum": call("nd.broadcast_minimum", "lhs, rhs"),
    "broadcast_equal": call("nd.broadcast_equal", "lhs, rhs", note=COMPARES),
    "broadcast_greater": call("nd.broadcast_greater", "lhs, rhs", note=COMPARES),
    # nd.broadcast_to keeps the number of dimensions.
    "broadcast_to": call("np.broadcast_to", "array=data, shape=shape", also=("nd.broadcast_to",)),
}
