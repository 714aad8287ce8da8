"""Parts of matrices in NumPy; the diagonal is a view."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "trace": call("numpy.trace", "a=data"),
    "diagonal": call("numpy.diagonal", "a=data", "offset=offset"),
    "triu": call("numpy.triu", "m=data", "k=offset"),
    "tril": call("numpy.tril", "m=data", "k=offset"),
}
