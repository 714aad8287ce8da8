"""JAX's functions by the path that users write: `jax.numpy.add`, `jnp.add`, `jax.lax.conv_general_dilated`.

A path is data, so it leads to computation only. `primitive.add` is what is below them: a primitive of JAX's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.stats

from opperf.child.backends.jax import primitives
from opperf.child.backends.paths import canonical, function_at, listing

ROOTS = {"jax": jax, "jnp": jnp, "lax": jax.lax, "nn": jax.nn}
#: Where operators are; the rest of JAX sets up profilers, servers and transformations.
SPACES = ("numpy", "nn", "lax", "random", "scipy", "image", "ops")
#: Functions of files and of memory that is somebody else's: no operators.
REFUSED = frozenset(
    {"load", "save", "savez", "fromfile", "frombuffer", "from_dlpack", "tofile", "dump", "dumps", "set_printoptions"}
)
#: Modules whose functions can be named, as the bindings write them; importing them lets `resolve` find them.
MODULES = {
    name: import_module(name)
    for name in (
        *("jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.lax.linalg", "jax.nn", "jax.random"),
        *("jax.ops", "jax.image"),
        *(f"jax.scipy.{name}" for name in ("fft", "integrate", "linalg", "ndimage", "signal", "special", "stats")),
        *(f"jax.scipy.stats.{module.name}" for module in iter_modules(jax.scipy.stats.__path__)),
    )
}


def resolve(path: str) -> Callable[..., Any]:
    """Return the function at a path, or raise `LookupError`."""
    if path.startswith(primitives.PREFIX):
        return primitives.find(path.removeprefix(primitives.PREFIX))
    words = canonical(path, ROOTS).split(".")
    if REFUSED.intersection(words) or (words[0] == "jax" and words[1:2] not in [[space] for space in SPACES]):
        raise LookupError(path)
    return function_at(path, ROOTS, "jax")


@cache
def names() -> list[str]:
    """Return the paths that can be named, for near matches."""
    return [path for path in listing(MODULES) if _is_named(path)]


def _is_named(path: str) -> bool:
    try:
        resolve(path)
    except LookupError:  # what JAX shows, and is NumPy's or Python's
        return False
    return True
