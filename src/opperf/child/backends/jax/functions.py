"""JAX's functions by the path that users write: `jax.numpy.add`, `jnp.add`, `jax.lax.conv_general_dilated`.

A path is data, so it leads to computation only. `primitive.add` is what is below them: a primitive of JAX's.

JAX's functions as operators: what `jax.numpy`, `jax.lax`, `jax.nn` and `jax.scipy` offer that computes.
JAX keeps no registry that a user could name an operator from: its primitives stand below these functions. Those of
`jax.random` are not among them: they draw from a key of unsigned numbers, which no tensor of opperf holds.

JAX's primitives, what a traced program consists of: each a function `primitive.<name>` of arrays and parameters.
They stand below the functions that users call, and take no defaults. Parameters come as a case holds them
(`parameters.py`). Keys of random numbers, which no case holds, come as the unsigned numbers below them, and go so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.stats

from opperf.child.backends.jax import parameters
from opperf.child.backends.jax.equations import primitives
from opperf.child.backends.jax.rules import AREAS, LEFT_OUT
from opperf.child.backends.paths import canonical, function_at, listing
from opperf.child.backends.signatures import Functions

ROOTS = {"jax": jax, "jnp": jnp, "lax": jax.lax, "nn": jax.nn}
#: Where operators are; the rest of JAX sets up profilers, servers and transformations.
SPACES = ("numpy", "nn", "lax", "random", "scipy", "image", "ops")
#: Functions of files and of foreign memory: no operators.
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
    if path.startswith(PREFIX):
        return primitive(path.removeprefix(PREFIX))
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


@cache
def functions() -> Functions:
    """Return the functions, and the rules of their cases."""
    paths = [path for path in names() if not path.startswith("jax.random.")]
    return Functions("jax", paths, resolve, ROOTS, AREAS, LEFT_OUT)


#: How the path of a primitive begins.
PREFIX = "primitive."
#: The parameter that says of each operand which kind of keys it is of, None for other arrays; no primitive has it.
KEYS = "key_kinds"


@dataclass(frozen=True)
class Function:
    """A primitive as a function."""

    primitive: Any = field(repr=False)

    def __call__(self, *operands: Any, **keywords: Any) -> Any:
        """Bind it: compute it, or stage it out where the call is traced."""
        kinds = keywords.pop(KEYS, ())
        keyed = [
            jax.random.wrap_key_data(operand, impl=kinds[i]) if i < len(kinds) and kinds[i] else operand
            for i, operand in enumerate(operands)
        ]
        decoded = {name: parameters.decoded(value, keyed) for name, value in keywords.items()}
        return jax.tree_util.tree_map(_plain, self.primitive.bind(*keyed, **decoded))


def primitive(name: str) -> Function:
    """Return a primitive by its name, or raise `LookupError`."""
    if name not in primitives():
        raise LookupError(PREFIX + name)
    return Function(primitives()[name])


def _plain(result: Any) -> Any:
    return jax.random.key_data(result) if jax.dtypes.issubdtype(result.dtype, jax.dtypes.prng_key) else result
