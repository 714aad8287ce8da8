"""JAX's functions of one array, element by element."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"jax.numpy.{name}", "data")
        for name in (
            "abs", "negative", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square",
            "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh",
            "arctanh", "sign", "floor", "ceil", "round", "trunc", "isnan", "isinf", "isfinite", "logical_not",
        )
    },
    "rsqrt": call("jax.lax.rsqrt", "x=data"),
    "erf": call("jax.scipy.special.erf", "x=data"),
    "clip": call("jax.numpy.clip", "arr=data, min=minimum, max=maximum"),
}  # fmt: skip
