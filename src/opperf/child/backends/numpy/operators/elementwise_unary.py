"""NumPy's functions of one array, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, Missing, call, composed


def rsqrt(data: Any) -> Any:
    """Return one over the square root."""
    return np.reciprocal(np.sqrt(data))


def rcbrt(data: Any) -> Any:
    """Return one over the cube root."""
    return np.reciprocal(np.cbrt(data))


def frac(data: Any) -> Any:
    """Return the part behind the point."""
    return np.subtract(data, np.trunc(data))


BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"numpy.{name}", "x=data")
        for name in (
            "abs", "negative", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square",
            "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh",
            "arctanh", "sign", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "logical_not",
            "degrees", "radians", "nan_to_num", "signbit", "bitwise_not",
        )
    },
    "rsqrt": composed(rsqrt, "data", note="numpy.sqrt and numpy.reciprocal"),
    "rcbrt": composed(rcbrt, "data", note="numpy.cbrt and numpy.reciprocal"),
    "erf": Missing("NumPy has no error function; SciPy has it"),
    "erfinv": Missing("NumPy has no inverse error function; SciPy has it"),
    "gammaln": Missing("NumPy has no gamma function; SciPy has it"),
    "digamma": Missing("NumPy has no digamma function; SciPy has it"),
    "frac": composed(frac, "data", note="numpy.trunc and numpy.subtract"),
    "clip": call("numpy.clip", "a=data, a_min=minimum, a_max=maximum"),
    "round": call("numpy.round", "a=data"),
}  # fmt: skip
