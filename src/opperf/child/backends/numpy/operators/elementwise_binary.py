"""NumPy's functions of two arrays, element by element."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
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
