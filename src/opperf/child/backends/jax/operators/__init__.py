"""How JAX spells the neutral operators, family by family."""

import jax.numpy as jnp

from opperf.child.backends.binding import OwnNames

OWN_NAMES = OwnNames({"jax.numpy": jnp})
