"""Indexing and embeddings in JAX."""

from __future__ import annotations

import jax.numpy as jnp

from opperf.child.backends.arrays.compositions import lookups, places_along, rows_of, slicing
from opperf.child.backends.binding import Binding, call, compositions, functions

BINDINGS: dict[str, Binding] = {
    # Picking and placing elements in JAX.
    **functions(
        "jax.numpy",
        {
            ("data, indices", "axis=axis"): "take index_select=take gather=take_along_axis",
            ("mask, value, data", ""): "masked_fill=where",
            ("a=weight, indices=indices", "axis=0"): "embedding=take",
        },
    ),
    "where": call("jax.numpy.where", "condition, lhs, rhs", also=("jax.lax.select",)),
    **slicing("indexing with slices"),
    **lookups(jnp, "jax.numpy"),
    **compositions(
        # A place beyond the array cannot raise in a compiled program, so it is clipped.
        ravel_multi_index=(
            lambda indices, shape: jnp.ravel_multi_index(tuple(indices), shape, mode="clip"),
            "jax.numpy.ravel_multi_index, clipped",
        ),
        gather_nd=(lambda data, indices: data[tuple(indices)], "indexing with a tuple of arrays"),
        scatter_add=(
            lambda data, indices, updates, axis: data.at[places_along(jnp, indices, axis)].add(updates),
            "`data.at[...].add(updates)`",
        ),
    ),
    # Embeddings in JAX.
    "one_hot": call("jax.nn.one_hot", "indices, depth", "dtype=dtype"),
    **rows_of(
        lambda weight, indices: jnp.take(weight, indices, axis=0),
        "jax.numpy.take",
        sum=(jnp.sum, "sum"),
        mean=(jnp.mean, "mean"),
    ),
}
