"""Dropout in JAX, from a key that is an argument, as the layers of JAX libraries do it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from opperf.child.backends.call import Binding, Call, parameters
from opperf.child.backends.jax.random_key import KEY, NOTE


def dropout(key: Any, data: Any, rate: float, training: bool | None) -> Any:
    """Return the data with zeros put in and the rest scaled up."""
    if training is False:
        return data
    kept = jax.random.bernoulli(key, 1.0 - rate, data.shape)
    return jnp.where(kept, data / (1.0 - rate), 0)


BINDINGS: dict[str, Binding] = {
    "dropout": Call(
        "composition:dropout",
        (KEY, *parameters("data, rate, training")),
        function=dropout,
        note=f"jax.random.bernoulli and jax.numpy.where; {NOTE}",
    ),
}
