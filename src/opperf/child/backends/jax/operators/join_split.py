"""Joining and parting arrays in JAX."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "concatenate": call("jax.numpy.concatenate", "data", "axis=axis"),
    "stack": call("jax.numpy.stack", "data", "axis=axis"),
    "split": call("jax.numpy.split", "data, sections", "axis=axis"),
}
