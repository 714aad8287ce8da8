"""Colors in JAX: a few functions for each."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.call import Binding
from opperf.child.backends.colors import CHANGES, change


def _like(data: Any, numbers: Any) -> Any:
    return jnp.asarray(numbers, data.dtype)


BINDINGS: dict[str, Binding] = {name: change(name, _like) for name in CHANGES}
