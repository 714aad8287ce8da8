"""NumPy's functions of one array, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.backends.call import Binding, Missing, call, composed


def rsqrt(data: Any) -> Any:
    """Return one over the square root."""
    return np.reciprocal(np.sqrt(data))


BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"numpy.{name}", "x=data")
        for name in (
            "abs", "negative", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square",
            "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh",
            "arctanh", "sign", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "logical_not",
        )
    },
    "rsqrt": composed(rsqrt, "data", note="numpy.sqrt and numpy.reciprocal"),
    "erf": Missing("NumPy has no error function; SciPy has it"),
    "clip": call("numpy.clip", "a=data, a_min=minimum, a_max=maximum"),
    "round": call("numpy.round", "a=data"),
}  # fmt: skip
