"""MXNet's parts of matrices."""

from __future__ import annotations

from typing import Any

from opperf.backends.call import Binding, call
from opperf.backends.mxnet.spelling import composed


def triu(F: Any, data: Any, offset: int = 0) -> Any:
    """Turn the matrix over, as there is only the lower triangle."""
    turned = F.np.tril(F.np.swapaxes(data, -1, -2), -offset)
    return F.np.swapaxes(turned, -1, -2)


BINDINGS: dict[str, Binding] = {
    # nd.linalg has no trace, and `nd` no tensor without dimensions.
    "trace": call("np.trace", "a=data"),
    "diagonal": call("nd.diag", "data", "k=offset"),
    "triu": composed(triu, "data", "offset=offset", note="np.tril between two np.swapaxes, composed", numpy=True),
    "tril": call("np.tril", "m=data", "k=offset"),
}
