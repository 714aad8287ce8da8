"""Embeddings in JAX."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "embedding": call("jax.numpy.take", "a=weight, indices=indices", "axis=0"),
    "one_hot": call("jax.nn.one_hot", "indices, depth", "dtype=dtype"),
}
