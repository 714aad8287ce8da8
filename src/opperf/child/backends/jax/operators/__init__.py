"""How JAX spells the neutral operators, family by family."""

import jax.numpy as jnp
from jax import nn

from opperf.child.backends.binding import OwnNames

OWN_NAMES = OwnNames({"jax.numpy": jnp, "jax.nn": nn})
