"""Parts of matrices in JAX."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "trace": call("jax.numpy.trace", "data"),
    "diagonal": call("jax.numpy.diagonal", "data", "offset=offset"),
    "triu": call("jax.numpy.triu", "data", "k=offset"),
    "tril": call("jax.numpy.tril", "data", "k=offset"),
}
