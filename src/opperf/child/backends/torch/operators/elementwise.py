"""Elementwise operators of one, two and three arrays, with broadcasting, and in place in PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.arrays.compositions import WRITES
from opperf.child.backends.binding import Binding, composition, compositions, functions
from opperf.child.backends.torch.functions import other_paths


def cube_root(data: Any) -> Any:
    """Return the real cube root, of negative numbers too."""
    return torch.sign(data) * torch.pow(torch.abs(data), 1 / 3)


BINDINGS: dict[str, Binding] = {
    # PyTorch's functions of one tensor, element by element.
    **functions(
        "torch",
        {
            ("input=data", ""): (
                "negative=neg arcsin=asin arccos=acos arctan=atan arcsinh=asinh arccosh=acosh arctanh=atanh "
                "degrees=rad2deg radians=deg2rad gammaln=lgamma"
            ),
            ("input=data", "min=minimum, max=maximum"): "clip=clamp",
        },
    ),
    "cbrt": composition(cube_root, note="sign, abs and pow, composed: PyTorch has no cube root"),
    **compositions(
        rcbrt=(lambda data: torch.reciprocal(cube_root(data)), "the cube root as above, and torch.reciprocal")
    ),
    # PyTorch's functions of two tensors, element by element; they broadcast by themselves.
    **functions(
        "torch",
        {
            ("input=lhs, other=rhs", ""): (
                "add floor_divide remainder maximum minimum hypot logaddexp logical_and logical_or logical_xor fmod "
                "copysign isclose bitwise_and bitwise_or bitwise_xor subtract=sub multiply=mul divide=div "
                "arctan2=atan2 equal=eq not_equal=ne greater=gt greater_equal=ge less=lt less_equal=le "
                "left_shift=bitwise_left_shift right_shift=bitwise_right_shift "
                "broadcast_add=add broadcast_subtract=sub broadcast_multiply=mul broadcast_divide=div "
                "broadcast_maximum=maximum broadcast_minimum=minimum broadcast_equal=eq broadcast_greater=gt"
            )
        },
        also=other_paths("{}", "Tensor"),
    ),
    **functions(
        "torch",
        {
            ("input=lhs, exponent=rhs", ""): "power=pow broadcast_power=pow",
            ("input=lhs, values=rhs", ""): "heaviside",
            ("input=data, size=shape", ""): "broadcast_to",
            # Of three tensors.
            ("input=start, end=end, weight=weight", ""): "lerp",
            ("input=data, tensor1=lhs, tensor2=rhs", "value=value"): "addcmul addcdiv",
        },
    ),
    # PyTorch's methods that write into their tensor.
    **functions(
        "torch.Tensor",
        {
            ("self=lhs, other=rhs", ""): (
                "add_inplace=add_ subtract_inplace=sub_ multiply_inplace=mul_ divide_inplace=div_ "
                "remainder_inplace=remainder_"
            ),
            ("self=destination, src=data", ""): "copy_to=copy_",
            ("self=data", ""): "relu_inplace=relu_",
            ("self=data", "min=low, max=high"): "clip_inplace=clamp_",
        },
    ),
    "set_item": WRITES["set_item"],
}
