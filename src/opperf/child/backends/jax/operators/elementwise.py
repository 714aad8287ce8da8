"""Elementwise operators of one, two and three arrays, with broadcasting, and in place in JAX."""

from __future__ import annotations

import jax.numpy as jnp

from opperf.child.backends.arrays.operators import TERNARY
from opperf.child.backends.binding import Binding, call, compositions, functions, gaps

BINDINGS: dict[str, Binding] = {
    # JAX's functions of one array and of two: NumPy's names, and behind a bar those of `jax.lax` that do the same. Its
    # `round` rounds halves away from zero, and its `rem` has the sign of the dividend.
    **functions(
        "jax.numpy",
        {
            ("data", ""): (
                "abs negative|neg exp exp2 expm1 log log1p sqrt cbrt square sin cos tan arcsin|asin "
                "arccos|acos arctan|atan sinh cosh arcsinh|asinh arccosh|acosh "
                "arctanh|atanh sign floor ceil isfinite|is_finite "
                "logical_not|bitwise_not bitwise_not"
            ),
            ("lhs, rhs", ""): (
                "add subtract|sub multiply|mul divide|div power|pow "
                "maximum|max minimum|min arctan2|atan2 equal|eq not_equal|ne "
                "greater|gt greater_equal|ge less|lt less_equal|le "
                "logical_and|bitwise_and logical_or|bitwise_or "
                "logical_xor|bitwise_xor"
            ),
        },
        also=("jax.lax.{}",),
    ),
    **functions(
        "jax.numpy",
        {
            ("lhs, rhs", ""): (
                "broadcast_add=add broadcast_subtract=subtract broadcast_multiply=multiply broadcast_divide=divide "
                "broadcast_power=power broadcast_maximum=maximum broadcast_minimum=minimum broadcast_equal=equal "
                "broadcast_greater=greater"
            ),
            ("arr=data, min=minimum, max=maximum", ""): "clip",
            ("data, shape", ""): "broadcast_to",
        },
    ),
    "rsqrt": call("jax.lax.rsqrt", "x=data"),
    **functions(
        "jax.scipy.special",
        {("x=data", ""): "erf gammaln|lgamma digamma", ("y=data", ""): "erfinv|erf_inv"},
        also=("jax.lax.{}",),
    ),
    **compositions(
        rcbrt=(lambda data: jnp.reciprocal(jnp.cbrt(data)), "jax.numpy.cbrt and jax.numpy.reciprocal"),
        frac=(lambda data: data - jnp.trunc(data), "jax.numpy.trunc and a difference"),
    ),
    # Functions of three arrays, which users of JAX write with arithmetic.
    **TERNARY,
    **gaps(
        "JAX arrays are immutable; XLA reuses donated memory only inside a user's program",
        "add_inplace subtract_inplace multiply_inplace divide_inplace remainder_inplace copy_to relu_inplace "
        "clip_inplace set_item",
    ),
}
