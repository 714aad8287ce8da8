"""PyTorch's functions of two tensors, element by element."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call
from opperf.child.backends.torch.functions import elsewhere

#: PyTorch's names, of those whose second argument is `other`.
NAMES = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "floor_divide": "floor_divide",
    "remainder": "remainder",
    "maximum": "maximum",
    "minimum": "minimum",
    "hypot": "hypot",
    "arctan2": "atan2",
    "logaddexp": "logaddexp",
    "equal": "eq",
    "not_equal": "ne",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "logical_xor": "logical_xor",
    "fmod": "fmod",
    "copysign": "copysign",
    "isclose": "isclose",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
}

BINDINGS: dict[str, Binding] = {
    **{
        neutral: call(f"torch.{own}", "input=lhs, other=rhs", also=elsewhere(own, "Tensor"))
        for neutral, own in NAMES.items()
    },
    "power": call("torch.pow", "input=lhs, exponent=rhs"),
    "heaviside": call("torch.heaviside", "input=lhs, values=rhs"),
}
