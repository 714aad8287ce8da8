"""PyTorch's functions of one tensor, element by element."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, call, composed


def cube_root(data: Any) -> Any:
    """Return the real cube root, of negative numbers too."""
    return torch.sign(data) * torch.pow(torch.abs(data), 1 / 3)


def rcbrt(data: Any) -> Any:
    """Return one over the real cube root."""
    return torch.reciprocal(cube_root(data))


#: What PyTorch calls as the catalog does.
SAME = (
    "abs", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "square", "reciprocal", "sin",
    "cos", "tan", "sinh", "cosh", "erf", "sign", "floor", "ceil", "round", "trunc", "isnan", "isinf", "isfinite",
    "logical_not", "erfinv", "digamma", "frac", "nan_to_num", "signbit", "bitwise_not",
)  # fmt: skip

BINDINGS: dict[str, Binding] = {
    **{name: call(f"torch.{name}", "input=data") for name in SAME},
    "negative": call("torch.neg", "input=data"),
    "cbrt": composed(cube_root, "data", note="sign, abs and pow, composed: PyTorch has no cube root"),
    "rcbrt": composed(rcbrt, "data", note="the cube root as above, and torch.reciprocal"),
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
}
