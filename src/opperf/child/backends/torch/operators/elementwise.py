"""Elementwise operators of one, two and three arrays, with broadcasting, and in place in PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.binding import Binding, call, composition, compositions
from opperf.child.backends.torch.functions import other_paths


def cube_root(data: Any) -> Any:
    """Return the real cube root, of negative numbers too."""
    return torch.sign(data) * torch.pow(torch.abs(data), 1 / 3)


#: What PyTorch calls as the catalog does.
SAME = (
    "abs", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "square", "reciprocal", "sin",
    "cos", "tan", "sinh", "cosh", "erf", "sign", "floor", "ceil", "round", "trunc", "isnan", "isinf", "isfinite",
    "logical_not", "erfinv", "digamma", "frac", "nan_to_num", "signbit", "bitwise_not",
)  # fmt: skip

#: PyTorch's names, of those whose second argument is `other`.
NAMES = {
    **{name: name for name in (
        "add", "floor_divide", "remainder", "maximum", "minimum", "hypot", "logaddexp", "logical_and", "logical_or",
        "logical_xor", "fmod", "copysign", "isclose", "bitwise_and", "bitwise_or", "bitwise_xor",
    )},
    "subtract": "sub", "multiply": "mul", "divide": "div", "arctan2": "atan2", "equal": "eq", "not_equal": "ne",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
}  # fmt: skip
BROADCAST = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "greater")


def set_item(data: Any, updates: Any) -> Any:
    """Replace every element."""
    data[:] = updates
    return data


BINARY: dict[str, Binding] = {
    **{
        neutral: call(f"torch.{own}", "input=lhs, other=rhs", also=other_paths(own, "Tensor"))
        for neutral, own in NAMES.items()
    },
    "power": call("torch.pow", "input=lhs, exponent=rhs"),
    "heaviside": call("torch.heaviside", "input=lhs, values=rhs"),
}

BINDINGS: dict[str, Binding] = {
    # PyTorch's functions of one tensor, element by element.
    **{name: call(f"torch.{name}", "input=data") for name in SAME},
    "negative": call("torch.neg", "input=data"),
    "cbrt": composition(cube_root, "data", note="sign, abs and pow, composed: PyTorch has no cube root"),
    "arcsin": call("torch.asin", "input=data"),
    "arccos": call("torch.acos", "input=data"),
    "arctan": call("torch.atan", "input=data"),
    "arcsinh": call("torch.asinh", "input=data"),
    "arccosh": call("torch.acosh", "input=data"),
    "arctanh": call("torch.atanh", "input=data"),
    "clip": call("torch.clamp", "input=data", "min=minimum, max=maximum"),
    "degrees": call("torch.rad2deg", "input=data"),
    "radians": call("torch.deg2rad", "input=data"),
    "gammaln": call("torch.lgamma", "input=data"),
    **compositions(
        rcbrt=(lambda data: torch.reciprocal(cube_root(data)), "the cube root as above, and torch.reciprocal")
    ),
    # PyTorch's functions of two tensors, element by element.
    **BINARY,
    # PyTorch's functions of three tensors, element by element.
    "lerp": call("torch.lerp", "input=start, end=end, weight=weight"),
    "addcmul": call("torch.addcmul", "input=data, tensor1=lhs, tensor2=rhs", "value=value"),
    "addcdiv": call("torch.addcdiv", "input=data, tensor1=lhs, tensor2=rhs", "value=value"),
    # PyTorch's element-wise functions on two shapes: the same functions, which broadcast by themselves.
    **{f"broadcast_{name}": BINARY[name] for name in BROADCAST},
    "broadcast_to": call("torch.broadcast_to", "input=data, size=shape"),
    # PyTorch's methods that write into their tensor.
    "add_inplace": call("torch.Tensor.add_", "self=lhs, other=rhs"),
    "subtract_inplace": call("torch.Tensor.sub_", "self=lhs, other=rhs"),
    "multiply_inplace": call("torch.Tensor.mul_", "self=lhs, other=rhs"),
    "divide_inplace": call("torch.Tensor.div_", "self=lhs, other=rhs"),
    "remainder_inplace": call("torch.Tensor.remainder_", "self=lhs, other=rhs"),
    "copy_to": call("torch.Tensor.copy_", "self=destination, src=data"),
    "relu_inplace": call("torch.Tensor.relu_", "self=data"),
    "clip_inplace": call("torch.Tensor.clamp_", "self=data", "min=low, max=high"),
    **compositions(set_item=(set_item, "`data[:] = updates`")),
}
