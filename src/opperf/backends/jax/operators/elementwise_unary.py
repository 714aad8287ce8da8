"""JAX's functions of one array, element by element: NumPy's names, and those of `jax.lax` that do the same."""

from __future__ import annotations

from opperf.backends.call import Binding, call

#: The names in `jax.lax`, where it has the function. Its `round` rounds halves away from zero.
LAX = {
    "abs": "abs", "negative": "neg", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log1p": "log1p",
    "sqrt": "sqrt", "cbrt": "cbrt", "square": "square", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "sign": "sign", "floor": "floor", "ceil": "ceil", "isfinite": "is_finite",
    "logical_not": "bitwise_not",
}  # fmt: skip

BINDINGS: dict[str, Binding] = {
    **{name: call(f"jax.numpy.{name}", "data", also=(f"jax.lax.{own}",)) for name, own in LAX.items()},
    **{
        name: call(f"jax.numpy.{name}", "data")
        for name in ("log2", "log10", "reciprocal", "round", "trunc", "isnan", "isinf")
    },
    "rsqrt": call("jax.lax.rsqrt", "x=data"),
    "erf": call("jax.scipy.special.erf", "x=data", also=("jax.lax.erf",)),
    "clip": call("jax.numpy.clip", "arr=data, min=minimum, max=maximum"),
}
