"""Elementwise operators of one, two and three arrays, with broadcasting, and in place in MXNet."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.binding import Binding, Call, Missing, call, parameters
from opperf.child.backends.mxnet.spelling import composition

# MXNet's functions of one tensor, element by element.


def frac(F: Any, data: Any) -> Any:
    """Take the whole part away."""
    return data - F.trunc(data)


_ELEMENTWISE_UNARY: dict[str, Binding] = {
    **{name: call(f"nd.{name}", "data", also=(f"np.{name}",)) for name in (
        "abs", "negative", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "square",
        "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh",
        "arctanh", "erf", "sign", "floor", "ceil", "trunc",
        "degrees", "radians",
    )},
    "rcbrt": call("nd.rcbrt", "data"),
    "exp2": call(
        "nd._internal._rpower_scalar", "data", "scalar=2.0", note="two to a tensor's power: `nd` has no `exp2`"
    ),
    "clip": call("nd.clip", "data", "a_min=minimum, a_max=maximum"),
    # nd.round takes halves away from zero, nd.rint takes them down.
    "round": call("np.around", "x=data", also=("np.round",)),
    # `nd` answers with floats and takes no truth values.
    "isnan": call("np.isnan", "x=data", also=("nd.contrib.isnan",)),
    "isinf": call("np.isinf", "x=data", also=("nd.contrib.isinf",)),
    "isfinite": call("np.isfinite", "x=data", also=("nd.contrib.isfinite",)),
    "logical_not": call("np.logical_not", "x=data", also=("nd.logical_not",)),
    "erfinv": call("nd.erfinv", "data", also=("npx.erfinv",)),
    "gammaln": call("nd.gammaln", "data", also=("npx.gammaln",)),
    "digamma": Missing("MXNet has the digamma function only as the gradient of `nd.gammaln`"),
    "frac": composition(frac, "data", note="nd.trunc and a difference, composed"),
    "nan_to_num": call("np.nan_to_num", "x=data"),
    "signbit": Missing("`np.signbit` of MXNet 1.9 is NumPy's own function, which does not take MXNet arrays"),
    "bitwise_not": call("np.bitwise_not", "x=data", also=("np.invert",)),
}  # fmt: skip


# MXNet's functions of two tensors, element by element.

COMPARES = "the answers are 1 and 0 in the dtype of the left side"
LOGICAL = "on truth values the bitwise function is the logical one, which `nd` has on numbers only"


def floor_divide(F: Any, lhs: Any, rhs: Any) -> Any:
    """Round the quotient down."""
    return F.floor(F.broadcast_div(lhs, rhs))


def logaddexp(F: Any, lhs: Any, rhs: Any) -> Any:
    """Add in the domain of logarithms without overflow."""
    apart = F.exp(F.negative(F.abs(F.broadcast_sub(lhs, rhs))))
    return F.broadcast_add(F.broadcast_maximum(lhs, rhs), F.log1p(apart))


_ELEMENTWISE_BINARY: dict[str, Binding] = {
    "add": call("nd.add", "lhs, rhs", also=("nd.elemwise_add", "np.add")),
    "subtract": call("nd.subtract", "lhs, rhs", also=("nd.elemwise_sub", "np.subtract")),
    "multiply": call("nd.multiply", "lhs, rhs", also=("nd.elemwise_mul", "np.multiply")),
    "divide": call("nd.divide", "lhs, rhs", also=("nd.elemwise_div", "np.divide")),
    "floor_divide": composition(floor_divide, "lhs, rhs", note="nd.broadcast_div and nd.floor, composed"),
    "remainder": call("nd.modulo", "lhs, rhs", also=("nd.broadcast_mod", "np.mod")),
    "power": call("nd.power", "lhs, rhs", also=("np.power",)),
    "maximum": call("nd.maximum", "lhs, rhs", also=("np.maximum",)),
    "minimum": call("nd.minimum", "lhs, rhs", also=("np.minimum",)),
    "hypot": call("nd.broadcast_hypot", "lhs, rhs", also=("np.hypot",)),
    "arctan2": call("np.arctan2", "x1=lhs, x2=rhs"),
    "logaddexp": composition(logaddexp, "lhs, rhs", note="maximum, difference, exp and log1p of `nd`, composed"),
    "equal": call("nd.equal", "lhs, rhs", note=COMPARES, also=("np.equal",)),
    "not_equal": call("nd.not_equal", "lhs, rhs", note=COMPARES, also=("nd.broadcast_not_equal", "np.not_equal")),
    "greater": call("nd.greater", "lhs, rhs", note=COMPARES, also=("np.greater",)),
    "greater_equal": call(
        "nd.greater_equal", "lhs, rhs", note=COMPARES, also=("nd.broadcast_greater_equal", "np.greater_equal")
    ),
    "less": call("nd.lesser", "lhs, rhs", note=COMPARES, also=("nd.broadcast_lesser", "np.less")),
    "less_equal": call(
        "nd.lesser_equal", "lhs, rhs", note=COMPARES, also=("nd.broadcast_lesser_equal", "np.less_equal")
    ),
    "logical_and": call("np.bitwise_and", "x1=lhs, x2=rhs", note=LOGICAL),
    "logical_or": call("np.bitwise_or", "x1=lhs, x2=rhs", note=LOGICAL),
    "logical_xor": call("np.bitwise_xor", "x1=lhs, x2=rhs", note=LOGICAL),
    "fmod": Missing("MXNet has only the remainder with the sign of the divisor, `nd.modulo`"),
    "copysign": call("np.copysign", "x1=lhs, x2=rhs"),
    "heaviside": Missing("`np.heaviside` of MXNet 1.9 is NumPy's own function, which does not take MXNet arrays"),
    "isclose": Missing("`np.isclose` of MXNet 1.9 is NumPy's own function, which does not take MXNet arrays"),
    "bitwise_and": call("np.bitwise_and", "x1=lhs, x2=rhs"),
    "bitwise_or": call("np.bitwise_or", "x1=lhs, x2=rhs"),
    "bitwise_xor": call("np.bitwise_xor", "x1=lhs, x2=rhs"),
    "left_shift": Missing("MXNet 1.9 has no shifts of bits"),
    "right_shift": Missing("MXNet 1.9 has no shifts of bits"),
}


# MXNet has no functions of three tensors, element by element; they are composed of arithmetic.


def lerp(F: Any, start: Any, end: Any, weight: Any) -> Any:
    """Go a part of the way from start to end."""
    return start + weight * (end - start)


def addcmul(F: Any, data: Any, lhs: Any, rhs: Any, value: float = 1.0) -> Any:
    """Add a scaled product."""
    return data + value * (lhs * rhs)


def addcdiv(F: Any, data: Any, lhs: Any, rhs: Any, value: float = 1.0) -> Any:
    """Add a scaled quotient."""
    return data + value * (lhs / rhs)


_ELEMENTWISE_TERNARY: dict[str, Binding] = {
    "lerp": composition(lerp, "start, end, weight", note="a difference, a product and a sum, composed"),
    "addcmul": composition(addcmul, "data, lhs, rhs", "value=value", note="two products and a sum, composed"),
    "addcdiv": composition(addcdiv, "data, lhs, rhs", "value=value", note="a quotient, a product and a sum, composed"),
}


# MXNet's operators of tensors that are repeated to a common shape.

_BROADCAST: dict[str, Binding] = {
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


# MXNet's operators with an input as the place of the output.


def set_item(data: Any, updates: Any) -> Any:
    """Replace every element."""
    data[:] = updates
    return data


_INPLACE: dict[str, Binding] = {
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


BINDINGS: dict[str, Binding] = {
    **_ELEMENTWISE_UNARY,
    **_ELEMENTWISE_BINARY,
    **_ELEMENTWISE_TERNARY,
    **_BROADCAST,
    **_INPLACE,
}
