"""What JAX's own modules define and do not all show: primitives, and the words that their parameters are made of."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jax.extend.core.primitives  # noqa: F401 - so that they are all there
from jax.extend.core import Primitive


@cache
def primitives() -> Mapping[str, Any]:
    """Return every primitive by its name."""
    return {one.name: one for one in _define() if isinstance(one, Primitive)}


def is_own(primitive: Any) -> bool:
    """Whether a primitive is the one that JAX itself defines under its name."""
    return bool(primitives().get(primitive.name) is primitive)


@cache
def words() -> Mapping[str, Any]:
    """Return the enumerations and named tuples by their names."""
    return {one.__name__: one for one in _define() if issubclass(type(one), type) and _is_word(one)}


def _is_word(kind: type) -> bool:
    """Whether values of a type are one of a few, or a tuple whose places have names."""
    return issubclass(kind, enum.Enum) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


def _define() -> Iterator[Any]:
    """Yield everything that a module of JAX holds under a name; of two of one name the last counts, the public one."""
    names = [name for name in sys.modules if name.split(".")[0] == "jax"]
    for name in sorted(names, key=lambda name: not name.startswith("jax._src.")):
        yield from list(vars(sys.modules[name]).values())
