"""JAX's functions of two arrays, element by element: NumPy's names, and those of `jax.lax` that do the same."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

#: The names in `jax.lax`, where it has the function. Its `rem` has the sign of the dividend.
LAX = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "power": "pow", "maximum": "max",
    "minimum": "min", "arctan2": "atan2", "equal": "eq", "not_equal": "ne", "greater": "gt", "greater_equal": "ge",
    "less": "lt", "less_equal": "le", "logical_and": "bitwise_and", "logical_or": "bitwise_or",
    "logical_xor": "bitwise_xor",
}  # fmt: skip

BINDINGS: dict[str, Binding] = {
    **{name: call(f"jax.numpy.{name}", "lhs, rhs", also=(f"jax.lax.{own}",)) for name, own in LAX.items()},
    **{
        name: call(f"jax.numpy.{name}", "lhs, rhs")
        for name in (
            "floor_divide",
            "remainder",
            "hypot",
            "logaddexp",
            "fmod",
            "copysign",
            "heaviside",
            "isclose",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "left_shift",
            "right_shift",
        )
    },
}
