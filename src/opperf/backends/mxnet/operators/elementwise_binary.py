"""MXNet's functions of two tensors, element by element."""

from __future__ import annotations

from typing import Any

from opperf.backends.call import Binding, call
from opperf.backends.mxnet.spelling import composed

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
    "add": call("nd.add", "lhs, rhs"),
    "subtract": call("nd.subtract", "lhs, rhs"),
    "multiply": call("nd.multiply", "lhs, rhs"),
    "divide": call("nd.divide", "lhs, rhs"),
    "floor_divide": composed(floor_divide, "lhs, rhs", note="nd.broadcast_div and nd.floor, composed"),
    "remainder": call("nd.modulo", "lhs, rhs"),
    "power": call("nd.power", "lhs, rhs"),
    "maximum": call("nd.maximum", "lhs, rhs"),
    "minimum": call("nd.minimum", "lhs, rhs"),
    "hypot": call("nd.broadcast_hypot", "lhs, rhs"),
    "arctan2": call("np.arctan2", "lhs, rhs"),
    "logaddexp": composed(logaddexp, "lhs, rhs", note="maximum, difference, exp and log1p of `nd`, composed"),
    "equal": call("nd.equal", "lhs, rhs", note=COMPARES),
    "not_equal": call("nd.not_equal", "lhs, rhs", note=COMPARES),
    "greater": call("nd.greater", "lhs, rhs", note=COMPARES),
    "greater_equal": call("nd.greater_equal", "lhs, rhs", note=COMPARES),
    "less": call("nd.lesser", "lhs, rhs", note=COMPARES),
    "less_equal": call("nd.lesser_equal", "lhs, rhs", note=COMPARES),
    "logical_and": call("np.bitwise_and", "lhs, rhs", note=LOGICAL),
    "logical_or": call("np.bitwise_or", "lhs, rhs", note=LOGICAL),
    "logical_xor": call("np.bitwise_xor", "lhs, rhs", note=LOGICAL),
}
