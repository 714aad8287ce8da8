"""Rows looked up by index in NumPy, and indices spread into rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed


def one_hot(indices: Any, depth: int, dtype: Any) -> Any:
    """Return zeros with a one placed for each index; `numpy.eye(depth)[indices]` would make a depth x depth array."""
    spread = np.zeros((*indices.shape, depth), dtype)
    np.put_along_axis(spread, indices[..., np.newaxis], 1, axis=-1)
    return spread


def embedding_bag_sum(indices: Any, weight: Any) -> Any:
    """Return the sum of the rows of each bag."""
    return np.sum(np.take(weight, indices, axis=0), axis=-2)


def embedding_bag_mean(indices: Any, weight: Any) -> Any:
    """Return the mean of the rows of each bag."""
    return np.mean(np.take(weight, indices, axis=0), axis=-2)


BINDINGS: dict[str, Binding] = {
    "embedding": call("numpy.take", "a=weight, indices=indices", "axis=0"),
    "one_hot": composed(one_hot, "indices, depth, dtype", note="numpy.zeros and numpy.put_along_axis"),
    "embedding_bag_sum": composed(embedding_bag_sum, "indices, weight", note="numpy.take and numpy.sum"),
    "embedding_bag_mean": composed(embedding_bag_mean, "indices, weight", note="numpy.take and numpy.mean"),
}
