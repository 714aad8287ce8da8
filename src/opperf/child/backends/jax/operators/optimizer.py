"""Steps of optimizers in JAX, which return a new weight and new states: arrays never change."""

from __future__ import annotations

import jax.numpy as jnp

from opperf.child.backends.call import Binding
from opperf.child.backends.updates import MADE_OF, Updates

UPDATES = Updates(jnp, immutable=True)

BINDINGS: dict[str, Binding] = {name: UPDATES.binding(name) for name in MADE_OF}
