"""Functions of three arrays, element by element, written once with Python's arithmetic, for NumPy and for JAX."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import composed


def lerp(start: Any, end: Any, weight: Any) -> Any:
    """Go a part of the way from start to end."""
    return start + weight * (end - start)


def addcmul(data: Any, lhs: Any, rhs: Any, value: float = 1.0) -> Any:
    """Add a scaled product."""
    return data + value * (lhs * rhs)


def addcdiv(data: Any, lhs: Any, rhs: Any, value: float = 1.0) -> Any:
    """Add a scaled quotient."""
    return data + value * (lhs / rhs)


LERP = composed(lerp, "start, end, weight", note="a difference, a product and a sum")
ADDCMUL = composed(addcmul, "data, lhs, rhs", "value=value", note="two products and a sum")
ADDCDIV = composed(addcdiv, "data, lhs, rhs", "value=value", note="a quotient, a product and a sum")
