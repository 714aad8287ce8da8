"""Elementwise operators of one, two and three arrays, with broadcasting, and in place in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.operators import ADDCDIV, ADDCMUL, LERP
from opperf.child.backends.binding import Binding, Missing, call, composition

# NumPy's functions of one array, element by element.


def rsqrt(data: Any) -> Any:
    """Return one over the square root."""
    return np.reciprocal(np.sqrt(data))


def rcbrt(data: Any) -> Any:
    """Return one over the cube root."""
    return np.reciprocal(np.cbrt(data))


def frac(data: Any) -> Any:
    """Return the part behind the point."""
    return np.subtract(data, np.trunc(data))


_ELEMENTWISE_UNARY: dict[str, Binding] = {
    **{
        name: call(f"numpy.{name}", "x=data")
        for name in (
            "abs", "negative", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square",
            "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh",
            "arctanh", "sign", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "logical_not",
            "degrees", "radians", "nan_to_num", "signbit", "bitwise_not",
        )
    },
    "rsqrt": composition(rsqrt, "data", note="numpy.sqrt and numpy.reciprocal"),
    "rcbrt": composition(rcbrt, "data", note="numpy.cbrt and numpy.reciprocal"),
    "erf": Missing("NumPy has no error function; SciPy has it"),
    "erfinv": Missing("NumPy has no inverse error function; SciPy has it"),
    "gammaln": Missing("NumPy has no gamma function; SciPy has it"),
    "digamma": Missing("NumPy has no digamma function; SciPy has it"),
    "frac": composition(frac, "data", note="numpy.trunc and numpy.subtract"),
    "clip": call("numpy.clip", "a=data, a_min=minimum, a_max=maximum"),
    "round": call("numpy.round", "a=data"),
}  # fmt: skip


# NumPy's functions of two arrays, element by element.

_ELEMENTWISE_BINARY: dict[str, Binding] = {
    **{
    name: call(f"numpy.{name}", "x1=lhs, x2=rhs")
    for name in (
        "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "maximum", "minimum", "hypot",
        "arctan2", "logaddexp", "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "logical_and",
        "logical_or", "logical_xor", "fmod", "copysign", "heaviside", "bitwise_and", "bitwise_or", "bitwise_xor",
        "left_shift", "right_shift",
    )
    },
    "isclose": call("numpy.isclose", "a=lhs, b=rhs"),
}  # fmt: skip


# Functions of three arrays, element by element, which users of NumPy write with arithmetic.

_ELEMENTWISE_TERNARY: dict[str, Binding] = {"lerp": LERP, "addcmul": ADDCMUL, "addcdiv": ADDCDIV}


# NumPy's functions of two arrays of different shapes: all of them broadcast.

_BROADCAST: dict[str, Binding] = {
    **{
        f"broadcast_{name}": call(f"numpy.{name}", "x1=lhs, x2=rhs")
        for name in ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "greater")
    },
    "broadcast_to": call("numpy.broadcast_to", "array=data, shape=shape"),
}


# NumPy's functions with an input as the place of the output.


def set_item(data: Any, updates: Any) -> Any:
    """Replace every element."""
    data[:] = updates
    return data


def copy_to(data: Any, destination: Any) -> Any:
    """Copy, and return what was copied into."""
    np.copyto(destination, data)
    return destination


_INPLACE: dict[str, Binding] = {
    "add_inplace": call("numpy.add", "x1=lhs, x2=rhs", "out=lhs"),
    "subtract_inplace": call("numpy.subtract", "x1=lhs, x2=rhs", "out=lhs"),
    "multiply_inplace": call("numpy.multiply", "x1=lhs, x2=rhs", "out=lhs"),
    "divide_inplace": call("numpy.divide", "x1=lhs, x2=rhs", "out=lhs"),
    "remainder_inplace": call("numpy.remainder", "x1=lhs, x2=rhs", "out=lhs"),
    "copy_to": composition(copy_to, "data, destination", note="numpy.copyto"),
    "relu_inplace": call("numpy.maximum", "x1=data, x2=0", "out=data", note="numpy.maximum with 0"),
    "clip_inplace": call("numpy.clip", "a=data, a_min=low, a_max=high", "out=data"),
    "set_item": composition(set_item, "data, updates", note="`data[:] = updates`"),
}


BINDINGS: dict[str, Binding] = {
    **_ELEMENTWISE_UNARY,
    **_ELEMENTWISE_BINARY,
    **_ELEMENTWISE_TERNARY,
    **_BROADCAST,
    **_INPLACE,
}
