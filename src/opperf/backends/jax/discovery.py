"""JAX's functions as operators: what `jax.numpy`, `jax.lax`, `jax.nn` and `jax.scipy` offer that computes.

JAX keeps no registry that a user could name an operator from: its primitives stand below these functions. Those of
`jax.random` are not among them: they draw from a key of unsigned numbers, which no tensor of opperf holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from opperf.backends import signatures
from opperf.backends.jax import functions
from opperf.backends.jax.rules import AREAS, LEFT_OUT
from opperf.case import Case


@cache
def _known() -> Mapping[str, Callable[..., Any]]:
    """Return every function that computes, by path; some have several."""
    left_out = {f"jax.{name}" for names in LEFT_OUT.values() for name in names}
    paths = [path for path in functions.names() if path not in left_out and not path.startswith("jax.random.")]
    found = {path: functions.resolve(path) for path in paths}
    return {path: function for path, function in found.items() if not isinstance(function, type)}


def paths() -> list[str]:
    """Return one path of each function, by name."""
    return signatures.distinct(_known())


def examples(path: str, size: str) -> list[Case]:
    """Return the case of the function at a path; none for one that is left out, or a size without rules."""
    path = functions.canonical(path)
    if path not in _known():
        return []
    area = next(area for area in AREAS if path.startswith(area))
    return AREAS[area].case(f"jax:{path}", path.removeprefix(area), _known()[path], size)
