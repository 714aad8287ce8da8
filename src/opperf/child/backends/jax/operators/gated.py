"""Gated activations in JAX: one function for glu, a product of two halves for the others."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import nn

from opperf.child.backends.call import Binding, call, composed


def reglu(data: Any) -> Any:
    """Return the first half times the relu of the second."""
    first, second = jnp.split(data, 2, axis=-1)
    return first * nn.relu(second)


def swiglu(data: Any) -> Any:
    """Return the first half times the silu of the second."""
    first, second = jnp.split(data, 2, axis=-1)
    return first * nn.silu(second)


def geglu(data: Any, approximate: str | None) -> Any:
    """Return the first half times the gelu of the second; JAX's own default is the approximation."""
    first, second = jnp.split(data, 2, axis=-1)
    return first * nn.gelu(second, approximate=approximate == "tanh")


BINDINGS: dict[str, Binding] = {
    "glu": call("jax.nn.glu", "data", "axis=-1"),
    "reglu": composed(reglu, "data", note="jax.numpy.split, jax.nn.relu and a product"),
    "swiglu": composed(swiglu, "data", note="jax.numpy.split, jax.nn.silu and a product"),
    "geglu": composed(geglu, "data, approximate", note="jax.numpy.split, jax.nn.gelu and a product"),
}
