"""Sorting and selecting in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from opperf.child.backends.call import Binding, call, composed


def top_k(data: Any, k: int, axis: int | None, largest: bool | None) -> tuple[Any, Any]:
    """Return the largest or smallest values along an axis, and their indices; lax has the largest of the last axis."""
    place = -1 if axis is None else axis
    moved = jnp.moveaxis(data, place, -1)
    values, indices = lax.top_k(-moved if largest is False else moved, k)
    values = -values if largest is False else values
    return jnp.moveaxis(values, -1, place), jnp.moveaxis(indices, -1, place)


BINDINGS: dict[str, Binding] = {
    "sort": call("jax.numpy.sort", "data", "axis=axis, descending=descending"),
    "argsort": call("jax.numpy.argsort", "data", "axis=axis, descending=descending"),
    "topk": composed(top_k, "data, k, axis, largest", note="jax.lax.top_k, whose indices are int32"),
}
