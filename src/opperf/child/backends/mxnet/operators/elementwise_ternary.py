"""MXNet has no functions of three tensors, element by element; they are composed of arithmetic."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding
from opperf.child.backends.mxnet.spelling import composed


def lerp(F: Any, start: Any, end: Any, weight: Any) -> Any:
    """Go a part of the way from start to end."""
    return start + weight * (end - start)


def addcmul(F: Any, data: Any, lhs: Any, rhs: Any, value: float = 1.0) -> Any:
    """Add a scaled product."""
    return data + value * (lhs * rhs)


def addcdiv(F: Any, data: Any, lhs: Any, rhs: Any, value: float = 1.0) -> Any:
    """Add a scaled quotient."""
    return data + value * (lhs / rhs)


BINDINGS: dict[str, Binding] = {
    "lerp": composed(lerp, "start, end, weight", note="a difference, a product and a sum, composed"),
    "addcmul": composed(addcmul, "data, lhs, rhs", "value=value", note="two products and a sum, composed"),
    "addcdiv": composed(addcdiv, "data, lhs, rhs", "value=value", note="a quotient, a product and a sum, composed"),
}
