"""Elementwise operators of one, two and three arrays, with broadcasting, and in place in JAX."""

from __future__ import annotations

import jax.numpy as jnp

from opperf.child.backends.arrays.operators import ADDCDIV, ADDCMUL, LERP
from opperf.child.backends.binding import Binding, Missing, call, compositions

#: The names in `jax.lax`, where it has the function. Its `round` rounds halves away from zero.
LAX = {
    "abs": "abs", "negative": "neg", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log1p": "log1p",
    "sqrt": "sqrt", "cbrt": "cbrt", "square": "square", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "sign": "sign", "floor": "floor", "ceil": "ceil", "isfinite": "is_finite",
    "logical_not": "bitwise_not", "bitwise_not": "bitwise_not",
}  # fmt: skip


#: The names in `jax.lax`, where it has the function. Its `rem` has the sign of the dividend.
LAX_BINARY = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "power": "pow", "maximum": "max",
    "minimum": "min", "arctan2": "atan2", "equal": "eq", "not_equal": "ne", "greater": "gt", "greater_equal": "ge",
    "less": "lt", "less_equal": "le", "logical_and": "bitwise_and", "logical_or": "bitwise_or",
    "logical_xor": "bitwise_xor",
}  # fmt: skip


IMMUTABLE = Missing("JAX arrays are immutable; XLA reuses donated memory only inside a user's program")


BINDINGS: dict[str, Binding] = {
    # JAX's functions of one array, element by element: NumPy's names, and those of `jax.lax` that do the same.
    **{name: call(f"jax.numpy.{name}", "data", also=(f"jax.lax.{own}",)) for name, own in LAX.items()},
    **{
        name: call(f"jax.numpy.{name}", "data")
        for name in (
            "log2",
            "log10",
            "reciprocal",
            "round",
            "trunc",
            "isnan",
            "isinf",
            "degrees",
            "radians",
            "nan_to_num",
            "signbit",
        )
    },
    "rsqrt": call("jax.lax.rsqrt", "x=data"),
    "erf": call("jax.scipy.special.erf", "x=data", also=("jax.lax.erf",)),
    "clip": call("jax.numpy.clip", "arr=data, min=minimum, max=maximum"),
    "erfinv": call("jax.scipy.special.erfinv", "y=data", also=("jax.lax.erf_inv",)),
    "gammaln": call("jax.scipy.special.gammaln", "x=data", also=("jax.lax.lgamma",)),
    "digamma": call("jax.scipy.special.digamma", "x=data", also=("jax.lax.digamma",)),
    **compositions(
        rcbrt=(lambda data: jnp.reciprocal(jnp.cbrt(data)), "jax.numpy.cbrt and jax.numpy.reciprocal"),
        frac=(lambda data: data - jnp.trunc(data), "jax.numpy.trunc and a difference"),
    ),
    # JAX's functions of two arrays, element by element: NumPy's names, and those of `jax.lax` that do the same.
    **{name: call(f"jax.numpy.{name}", "lhs, rhs", also=(f"jax.lax.{own}",)) for name, own in LAX_BINARY.items()},
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
    # Functions of three arrays, element by element, which users of JAX write with arithmetic.
    "lerp": LERP,
    "addcmul": ADDCMUL,
    "addcdiv": ADDCDIV,
    # JAX's functions of two arrays broadcast like NumPy's, so they are those of `elementwise_binary`.
    **{
        f"broadcast_{name}": call(f"jax.numpy.{name}", "lhs, rhs")
        for name in ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "greater")
    },
    "broadcast_to": call("jax.numpy.broadcast_to", "data, shape"),
    # Nothing is done in place in JAX: its arrays never change.
    "add_inplace": IMMUTABLE,
    "subtract_inplace": IMMUTABLE,
    "multiply_inplace": IMMUTABLE,
    "divide_inplace": IMMUTABLE,
    "remainder_inplace": IMMUTABLE,
    "copy_to": IMMUTABLE,
    "relu_inplace": IMMUTABLE,
    "clip_inplace": IMMUTABLE,
    "set_item": IMMUTABLE,
}
