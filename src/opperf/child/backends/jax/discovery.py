"""JAX's functions as operators: what `jax.numpy`, `jax.lax`, `jax.nn` and `jax.scipy` offer that computes.

JAX keeps no registry that a user could name an operator from: its primitives stand below these functions. Those of
`jax.random` are not among them: they draw from a key of unsigned numbers, which no tensor of opperf holds.
"""

from __future__ import annotations

from functools import cache

from opperf.child.backends.jax.functions import ROOTS, names, resolve
from opperf.child.backends.jax.rules import AREAS, LEFT_OUT
from opperf.child.backends.signatures import Functions


@cache
def functions() -> Functions:
    """Return the functions, and the rules of their cases."""
    paths = [path for path in names() if not path.startswith("jax.random.")]
    return Functions("jax", paths, resolve, ROOTS, AREAS, LEFT_OUT)
