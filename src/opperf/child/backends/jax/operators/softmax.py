"""Softmax and its kin in JAX."""

from __future__ import annotations

from typing import Any

from jax import nn

from opperf.child.backends.call import Binding, call, composed


def softmin(data: Any, axis: Any) -> Any:
    """Return the softmax of the negative."""
    return nn.softmax(-data, axis=-1 if axis is None else axis)


BINDINGS: dict[str, Binding] = {
    "softmax": call("jax.nn.softmax", "data", "axis=axis"),
    "log_softmax": call("jax.nn.log_softmax", "data", "axis=axis"),
    "softmin": composed(softmin, "data, axis", note="jax.nn.softmax of the negative"),
}
