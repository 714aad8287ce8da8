"""MXNet's functions of one tensor, element by element."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding, Missing, call
from opperf.child.backends.mxnet.spelling import composed


def frac(F: Any, data: Any) -> Any:
    """Take the whole part away."""
    return data - F.trunc(data)


BINDINGS: dict[str, Binding] = {
    **{name: call(f"nd.{name}", "data", also=(f"np.{name}",)) for name in (
        "abs", "negative", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "square",
        "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh",
        "arctanh", "erf", "sign", "floor", "ceil", "trunc",
        "degrees", "radians",
    )},
    "rcbrt": call("nd.rcbrt", "data"),
    "exp2": call(
        "nd._internal._rpower_scalar", "data", "scalar=2.0", note="two to a tensor's power: `nd` has no `exp2`"
    ),
    "clip": call("nd.clip", "data", "a_min=minimum, a_max=maximum"),
    # nd.round takes halves away from zero, nd.rint takes them down.
    "round": call("np.around", "x=data", also=("np.round",)),
    # `nd` answers with floats and takes no truth values.
    "isnan": call("np.isnan", "x=data", also=("nd.contrib.isnan",)),
    "isinf": call("np.isinf", "x=data", also=("nd.contrib.isinf",)),
    "isfinite": call("np.isfinite", "x=data", also=("nd.contrib.isfinite",)),
    "logical_not": call("np.logical_not", "x=data", also=("nd.logical_not",)),
    "erfinv": call("nd.erfinv", "data", also=("npx.erfinv",)),
    "gammaln": call("nd.gammaln", "data", also=("npx.gammaln",)),
    "digamma": Missing("MXNet has the digamma function only as the gradient of `nd.gammaln`"),
    "frac": composed(frac, "data", note="nd.trunc and a difference, composed"),
    "nan_to_num": call("np.nan_to_num", "x=data"),
    "signbit": Missing("`np.signbit` of MXNet 1.9 is NumPy's own function, which takes no arrays of MXNet"),
    "bitwise_not": call("np.bitwise_not", "x=data", also=("np.invert",)),
}  # fmt: skip
