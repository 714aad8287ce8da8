"""MXNet's functions of one tensor, element by element."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    **{name: call(f"nd.{name}", "data", also=(f"np.{name}",)) for name in (
        "abs", "negative", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "square",
        "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh",
        "arctanh", "erf", "sign", "floor", "ceil", "trunc",
    )},
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
}  # fmt: skip
