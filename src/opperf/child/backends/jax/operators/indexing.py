"""Indexing and embeddings in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.binding import Binding, call, composition, compositions


def scatter_add(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Return the data with each update added at its index along the axis."""
    places = list(jnp.indices(indices.shape, sparse=True))
    places[axis] = indices
    return data.at[tuple(places)].add(updates)


def slice_of(data: Any, begin: Any, end: Any, step: Any) -> Any:
    """Return the part from `begin` to before `end` by `step`, for the leading dimensions that are given."""
    starts, stops, steps = (value if isinstance(value, tuple) else (value,) for value in (begin, end, step))
    rank = max(len(starts), len(stops), len(steps))
    ranges = [(*bounds, *(None,) * (rank - len(bounds))) for bounds in (starts, stops, steps)]
    return data[tuple(map(slice, *ranges))]


BINDINGS: dict[str, Binding] = {
    # Picking and placing elements in JAX.
    "take": call("jax.numpy.take", "data, indices", "axis=axis"),
    "index_select": call("jax.numpy.take", "data, indices", "axis=axis"),
    "gather": call("jax.numpy.take_along_axis", "data, indices", "axis=axis"),
    "where": call("jax.numpy.where", "condition, lhs, rhs", also=("jax.lax.select",)),
    "masked_fill": call("jax.numpy.where", "mask, value, data"),
    "slice": composition(slice_of, "data, begin, end, step", note="indexing with slices"),
    **compositions(
        pick=(
            lambda data, indices, axis: jnp.squeeze(
                jnp.take_along_axis(data, jnp.expand_dims(indices, axis), axis), axis
            ),
            "jax.numpy.take_along_axis between reshapes",
        ),
        # A place beyond the array cannot raise in a compiled program, so it is clipped.
        ravel_multi_index=(
            lambda indices, shape: jnp.ravel_multi_index(tuple(indices), shape, mode="clip"),
            "jax.numpy.ravel_multi_index, clipped",
        ),
        unravel_index=(
            lambda indices, shape: jnp.stack(jnp.unravel_index(indices, shape)),
            "jax.numpy.unravel_index and jax.numpy.stack",
        ),
        gather_nd=(lambda data, indices: data[tuple(indices)], "indexing with a tuple of arrays"),
        scatter_add=(scatter_add, "`data.at[...].add(updates)`"),
    ),
    # Embeddings in JAX.
    "embedding": call("jax.numpy.take", "a=weight, indices=indices", "axis=0"),
    "one_hot": call("jax.nn.one_hot", "indices, depth", "dtype=dtype"),
    **compositions(
        embedding_bag_sum=(lambda indices, weight: jnp.take(weight, indices, axis=0).sum(-2), "jax.numpy.take and sum"),
        embedding_bag_mean=(
            lambda indices, weight: jnp.take(weight, indices, axis=0).mean(-2),
            "jax.numpy.take and mean",
        ),
    ),
}
