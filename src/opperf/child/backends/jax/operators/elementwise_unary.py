"""JAX's functions of one array, element by element: NumPy's names, and those of `jax.lax` that do the same."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.call import Binding, call, composed


def rcbrt(data: Any) -> Any:
    """Return one over the cube root."""
    return jnp.reciprocal(jnp.cbrt(data))


def frac(data: Any) -> Any:
    """Return the part behind the point."""
    return data - jnp.trunc(data)


#: The names in `jax.lax`, where it has the function. Its `round` rounds halves away from zero.
LAX = {
    "abs": "abs", "negative": "neg", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log1p": "log1p",
    "sqrt": "sqrt", "cbrt": "cbrt", "square": "square", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "sign": "sign", "floor": "floor", "ceil": "ceil", "isfinite": "is_finite",
    "logical_not": "bitwise_not", "bitwise_not": "bitwise_not",
}  # fmt: skip

BINDINGS: dict[str, Binding] = {
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
    "rcbrt": composed(rcbrt, "data", note="jax.numpy.cbrt and jax.numpy.reciprocal"),
    "erf": call("jax.scipy.special.erf", "x=data", also=("jax.lax.erf",)),
    "clip": call("jax.numpy.clip", "arr=data, min=minimum, max=maximum"),
    "erfinv": call("jax.scipy.special.erfinv", "y=data", also=("jax.lax.erf_inv",)),
    "gammaln": call("jax.scipy.special.gammaln", "x=data", also=("jax.lax.lgamma",)),
    "digamma": call("jax.scipy.special.digamma", "x=data", also=("jax.lax.digamma",)),
    "frac": composed(frac, "data", note="jax.numpy.trunc and a difference"),
}
