"""The computations that JAX was asked for, and that may not be done."""

from __future__ import annotations

from contextlib import suppress

import jax
from jax._src import xla_bridge


def wait() -> None:
    """Wait for all of them; what fails is the program's own affair, which it learns where it waits itself."""
    if not xla_bridge.backends_are_initialized():  # as when JAX has put its devices away at the program's end
        return
    with suppress(jax.errors.JaxRuntimeError):
        jax.effects_barrier()
    for array in jax.live_arrays():
        with suppress(jax.errors.JaxRuntimeError):
            if not array.is_deleted():
                array.block_until_ready()
