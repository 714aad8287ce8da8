"""MXNet's functions of one tensor, element by element."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    **{name: call(f"nd.{name}", "data") for name in (
        "abs", "negative", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "square",
        "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh",
        "arctanh", "erf", "sign", "floor", "ceil", "trunc",
    )},
    "exp2": call("nd.power", "2.0, data", note="two to a tensor's power: `nd` has no `exp2`"),
    "clip": call("nd.clip", "data", "a_min=minimum, a_max=maximum"),
    # nd.round takes halves away from zero, nd.rint takes them down.
    "round": call("np.around", "data"),
    # `nd` answers with floats and takes no truth values.
    "isnan": call("np.isnan", "data"),
    "isinf": call("np.isinf", "data"),
    "isfinite": call("np.isfinite", "data"),
    "logical_not": call("np.logical_not", "data"),
}  # fmt: skip
