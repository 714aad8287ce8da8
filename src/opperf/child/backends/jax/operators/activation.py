"""Activations in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.call import Binding, call, composed


def prelu(data: Any, weight: Any) -> Any:
    """Return the data where positive, else times the weight of its channel."""
    shaped = weight.reshape(1, -1, *(1,) * (data.ndim - 2)) if data.ndim > 1 else weight
    return jnp.where(data > 0, data, shaped * data)


BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"jax.nn.{own}", "data")
        for name, own in {
            "relu": "relu",
            "relu6": "relu6",
            "silu": "silu",
            "mish": "mish",
            "selu": "selu",
            "softplus": "softplus",
            "softsign": "soft_sign",
            "log_sigmoid": "log_sigmoid",
            "hard_sigmoid": "hard_sigmoid",
            "hard_swish": "hard_swish",
        }.items()
    },
    "sigmoid": call("jax.nn.sigmoid", "data", also=("jax.lax.logistic",)),
    "tanh": call("jax.numpy.tanh", "data", also=("jax.nn.tanh", "jax.lax.tanh")),
    "gelu": call(
        "jax.nn.gelu",
        "data",
        "approximate=approximate",
        derive={"approximate": lambda made: made.get("approximate") in (True, "tanh")},  # JAX's own default is tanh
    ),
    "leaky_relu": call("jax.nn.leaky_relu", "data", "negative_slope=slope"),
    "elu": call("jax.nn.elu", "data", "alpha=alpha"),
    "prelu": composed(prelu, "data, weight", note="jax.numpy.where and a product"),
}
