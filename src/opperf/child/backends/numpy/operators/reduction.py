"""NumPy's folds along axes, and running sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed

FOLDED = "axis=axis, keepdims=keepdims"


def logsumexp(data: Any, axis: Any, keepdims: bool | None) -> Any:
    """Return the logarithm of the sum of the exponentials.

    `numpy.logaddexp.reduce` does it in one call, and takes twenty times as long: a scalar logarithm for each element.
    """
    largest = np.max(data, axis=axis, keepdims=True)
    folded = np.log(np.sum(np.exp(data - largest), axis=axis, keepdims=True)) + largest
    return folded if keepdims else np.squeeze(folded, axis=axis)


BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"numpy.{name}", "a=data", FOLDED)
        for name in ("sum", "mean", "max", "min", "prod", "std", "argmax", "argmin", "all", "any", "nansum", "nanprod")
    },
    "norm": call("numpy.linalg.norm", "x=data", FOLDED),
    "variance": call("numpy.var", "a=data", FOLDED),
    "logsumexp": composed(
        logsumexp, "data, axis, keepdims", note="numpy.max, numpy.exp, numpy.sum, numpy.log and arithmetic"
    ),
    "cumsum": call("numpy.cumsum", "a=data", "axis=axis"),
    "cumprod": call("numpy.cumprod", "a=data", "axis=axis"),
}
