"""MXNet's functions of two tensors, element by element."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding, Missing, call
from opperf.child.backends.mxnet.spelling import composed

COMPARES = "the answers are 1 and 0 in the dtype of the left side"
LOGICAL = "on truth values the bitwise function is the logical one, which `nd` has on numbers only"


def floor_divide(F: Any, lhs: Any, rhs: Any) -> Any:
    """Round the quotient down."""
    return F.floor(F.broadcast_div(lhs, rhs))


def logaddexp(F: Any, lhs: Any, rhs: Any) -> Any:
    """Add in the domain of logarithms without overflow."""
    apart = F.exp(F.negative(F.abs(F.broadcast_sub(lhs, rhs))))
    return F.broadcast_add(F.broadcast_maximum(lhs, rhs), F.log1p(apart))


BINDINGS: dict[str, Binding] = {
    "add": call("nd.add", "lhs, rhs", also=("nd.elemwise_add", "np.add")),
    "subtract": call("nd.subtract", "lhs, rhs", also=("nd.elemwise_sub", "np.subtract")),
    "multiply": call("nd.multiply", "lhs, rhs", also=("nd.elemwise_mul", "np.multiply")),
    "divide": call("nd.divide", "lhs, rhs", also=("nd.elemwise_div", "np.divide")),
    "floor_divide": composed(floor_divide, "lhs, rhs", note="nd.broadcast_div and nd.floor, composed"),
    "remainder": call("nd.modulo", "lhs, rhs", also=("nd.broadcast_mod", "np.mod")),
    "power": call("nd.power", "lhs, rhs", also=("np.power",)),
    "maximum": call("nd.maximum", "lhs, rhs", also=("np.maximum",)),
    "minimum": call("nd.minimum", "lhs, rhs", also=("np.minimum",)),
    "hypot": call("nd.broadcast_hypot", "lhs, rhs", also=("np.hypot",)),
    "arctan2": call("np.arctan2", "x1=lhs, x2=rhs"),
    "logaddexp": composed(logaddexp, "lhs, rhs", note="maximum, difference, exp and log1p of `nd`, composed"),
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
    "heaviside": Missing("`np.heaviside` of MXNet 1.9 is NumPy's own function, which takes no arrays of MXNet"),
    "isclose": Missing("`np.isclose` of MXNet 1.9 is NumPy's own function, which takes no arrays of MXNet"),
    "bitwise_and": call("np.bitwise_and", "x1=lhs, x2=rhs"),
    "bitwise_or": call("np.bitwise_or", "x1=lhs, x2=rhs"),
    "bitwise_xor": call("np.bitwise_xor", "x1=lhs, x2=rhs"),
    "left_shift": Missing("MXNet 1.9 has no shifts of bits"),
    "right_shift": Missing("MXNet 1.9 has no shifts of bits"),
}
