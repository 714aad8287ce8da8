"""JAX's primitives, what a traced program consists of: each a function `primitive.<name>` of arrays and parameters.

They stand below the functions that users call, and take no defaults. Parameters come as a case holds them
(`parameters.py`). Keys of random numbers, which no case holds, come as the unsigned numbers below them, and go so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax

from opperf.child.backends.jax import parameters
from opperf.child.backends.jax.inside import primitives

#: How the path of a primitive begins.
PREFIX = "primitive."
#: The parameter that says of each operand which kind of keys it is of, None for other arrays; no primitive has it.
KEYS = "key_kinds"


@dataclass(frozen=True)
class Function:
    """A primitive as a function."""

    primitive: Any = field(repr=False)

    def __call__(self, *operands: Any, **given: Any) -> Any:
        """Bind it: compute it, or stage it out where the call is traced."""
        kinds = given.pop(KEYS, ())
        keyed = [
            jax.random.wrap_key_data(operand, impl=kinds[i]) if i < len(kinds) and kinds[i] else operand
            for i, operand in enumerate(operands)
        ]
        decoded = {name: parameters.decoded(value, keyed) for name, value in given.items()}
        return jax.tree_util.tree_map(_plain, self.primitive.bind(*keyed, **decoded))


def find(name: str) -> Function:
    """Return a primitive by its name, or raise `LookupError`."""
    if name not in primitives():
        raise LookupError(PREFIX + name)
    return Function(primitives()[name])


def _plain(result: Any) -> Any:
    return jax.random.key_data(result) if jax.dtypes.issubdtype(result.dtype, jax.dtypes.prng_key) else result
