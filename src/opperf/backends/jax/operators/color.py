"""Colors in JAX: a few functions for each."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.backends.call import Binding
from opperf.backends.colors import changes


def _like(data: Any, numbers: Any) -> Any:
    return jnp.asarray(numbers, data.dtype)


BINDINGS: dict[str, Binding] = changes(_like)
