"""Sequences of unequal length in JAX: places made of the lengths, then one function."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.call import Binding, composed


def sequence_mask(data: Any, lengths: Any, value: float) -> Any:
    """Return the data with what lies beyond the lengths filled."""
    within = jnp.arange(data.shape[0])[:, None] < lengths
    return jnp.where(within[..., None], data, value)


def sequence_reverse(data: Any, lengths: Any) -> Any:
    """Return each sequence in reverse order."""
    places = jnp.arange(data.shape[0])[:, None]
    places = jnp.where(places < lengths, lengths - 1 - places, places)
    return data[places, jnp.arange(data.shape[1])]


def sequence_last(data: Any, lengths: Any) -> Any:
    """Return the last row of each sequence."""
    return data[lengths - 1, jnp.arange(data.shape[1])]


BINDINGS: dict[str, Binding] = {
    "sequence_mask": composed(
        sequence_mask, "data, lengths, value", note="jax.numpy.arange, a comparison and jax.numpy.where"
    ),
    "sequence_reverse": composed(
        sequence_reverse, "data, lengths", note="jax.numpy.arange, jax.numpy.where, and indexing with two arrays"
    ),
    "sequence_last": composed(sequence_last, "data, lengths", note="jax.numpy.arange, and indexing with two arrays"),
}
