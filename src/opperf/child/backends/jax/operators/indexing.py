"""Indexing and embeddings in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.call import Binding, call, composed

# Picking and placing elements in JAX.


def gather_nd(data: Any, indices: Any) -> Any:
    """Return the elements at points whose coordinates are the rows of the indices."""
    return data[tuple(indices)]


def scatter_add(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Return the data with each update added at its index along the axis."""
    places = list(jnp.indices(indices.shape, sparse=True))
    places[axis] = indices
    return data.at[tuple(places)].add(updates)


def slice_of(data: Any, begin: Any, end: Any, step: Any) -> Any:
    """Return the part from `begin` to before `end` by `step`, for the leading dimensions that are given."""
    starts, stops, steps = (value if isinstance(value, tuple) else (value,) for value in (begin, end, step))
    rank = max(len(starts), len(stops), len(steps))
    padded = [(*bounds, *(None,) * (rank - len(bounds))) for bounds in (starts, stops, steps)]
    return data[tuple(map(slice, *padded))]


def pick(data: Any, indices: Any, axis: int) -> Any:
    """Return one element along the axis for each index."""
    return jnp.squeeze(jnp.take_along_axis(data, jnp.expand_dims(indices, axis), axis), axis)


def ravel_multi_index(indices: Any, shape: Any) -> Any:
    """Return the places in the flattened array; those beyond it cannot raise, so they are clipped."""
    return jnp.ravel_multi_index(tuple(indices), shape, mode="clip")


def unravel_index(indices: Any, shape: Any) -> Any:
    """Return the coordinates as one array."""
    return jnp.stack(jnp.unravel_index(indices, shape))


_INDEXING: dict[str, Binding] = {
    "take": call("jax.numpy.take", "data, indices", "axis=axis"),
    "index_select": call("jax.numpy.take", "data, indices", "axis=axis"),
    "gather": call("jax.numpy.take_along_axis", "data, indices", "axis=axis"),
    "pick": composed(pick, "data, indices, axis", note="jax.numpy.take_along_axis between reshapes"),
    "ravel_multi_index": composed(ravel_multi_index, "indices, shape", note="jax.numpy.ravel_multi_index, clipped"),
    "unravel_index": composed(unravel_index, "indices, shape", note="jax.numpy.unravel_index and jax.numpy.stack"),
    "gather_nd": composed(gather_nd, "data, indices", note="indexing with a tuple of arrays"),
    "scatter_add": composed(scatter_add, "data, indices, updates, axis", note="`data.at[...].add(updates)`"),
    "where": call("jax.numpy.where", "condition, lhs, rhs", also=("jax.lax.select",)),
    "masked_fill": call("jax.numpy.where", "mask, value, data"),
    "slice": composed(slice_of, "data, begin, end, step", note="indexing with slices"),
}


# Embeddings in JAX.


def embedding_bag_sum(indices: Any, weight: Any) -> Any:
    """Return the sum of the rows of each bag."""
    return jnp.take(weight, indices, axis=0).sum(-2)


def embedding_bag_mean(indices: Any, weight: Any) -> Any:
    """Return the mean of the rows of each bag."""
    return jnp.take(weight, indices, axis=0).mean(-2)


_EMBEDDING: dict[str, Binding] = {
    "embedding": call("jax.numpy.take", "a=weight, indices=indices", "axis=0"),
    "one_hot": call("jax.nn.one_hot", "indices, depth", "dtype=dtype"),
    "embedding_bag_sum": composed(embedding_bag_sum, "indices, weight", note="jax.numpy.take and sum"),
    "embedding_bag_mean": composed(embedding_bag_mean, "indices, weight", note="jax.numpy.take and mean"),
}


BINDINGS: dict[str, Binding] = {
    **_INDEXING,
    **_EMBEDDING,
}
