"""JAX's sums, means, greatest and counts by index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from opperf.child.backends.call import Binding, call, composed


def segment_mean(data: Any, segments: Any, count: int) -> Any:
    """Return the sums over the counts."""
    counts = jnp.maximum(jnp.bincount(segments, length=count), 1)
    return jax.ops.segment_sum(data, segments, num_segments=count) / counts[:, None].astype(data.dtype)


def index_add(data: Any, indices: Any, updates: Any) -> Any:
    """Return the data with each row of the updates added at its index."""
    return data.at[indices].add(updates)


def scatter_reduce_amax(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Return the greatest of the data and each update at its index along the axis."""
    places = list(jnp.indices(indices.shape, sparse=True))
    places[axis] = indices
    return data.at[tuple(places)].max(updates)


def _range(made: Mapping[str, Any]) -> tuple[float, float]:
    return float(made["low"]), float(made["high"])


BINDINGS: dict[str, Binding] = {
    "segment_sum": call("jax.ops.segment_sum", "data, segments", "num_segments=count"),
    "segment_mean": composed(
        segment_mean, "data, segments, count", note="jax.ops.segment_sum, jax.numpy.bincount, maximum and a division"
    ),
    "segment_max": call("jax.ops.segment_max", "data, segments", "num_segments=count"),
    "index_add": composed(index_add, "data, indices, updates", note="`data.at[indices].add(updates)`"),
    "scatter_reduce_amax": composed(
        scatter_reduce_amax, "data, indices, updates, axis", note="`data.at[...].max(updates)`"
    ),
    "bincount": call("jax.numpy.bincount", "data", "length=count"),
    "histogram": call("jax.numpy.histogram", "data", "bins=bins, range=range", derive={"range": _range}),
    "searchsorted": call("jax.numpy.searchsorted", "data, values", adapt={"data": jnp.sort}),
}
