"""Indexing and embeddings in TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.compositions import rows_of, slicing
from opperf.child.backends.binding import Binding, compositions, functions
from opperf.child.backends.tensorflow.operators.recurrent import places_along


def pick(data: Any, indices: Any, axis: int) -> Any:
    if axis in (-1, data.shape.rank - 1):
        return tf.gather(data, indices, batch_dims=data.shape.rank - 1)
    places = places_along(tf.expand_dims(indices, axis), axis)
    return tf.squeeze(tf.gather_nd(data, places), axis)


def ravel_multi_index(indices: Any, shape: tuple[int, ...]) -> Any:
    flat = indices[0]
    for row, size in zip(tf.unstack(indices)[1:], shape[1:], strict=True):
        flat = flat * size + row
    return flat


BINDINGS: dict[str, Binding] = {
    # Picking and placing elements in TensorFlow.
    **functions(
        "tf",
        {
            ("data, indices", "axis=axis"): "take=gather index_select=gather",
            ("condition, lhs, rhs", ""): "where",
            ("params=weight, ids=indices", ""): "embedding=nn.embedding_lookup",
            ("indices, depth", "dtype=dtype"): "one_hot",
        },
    ),
    **slicing("indexing with slices, tf.strided_slice"),
    **compositions(
        gather=(
            lambda data, indices, axis: tf.gather_nd(data, places_along(indices, axis)),
            "tf.meshgrid, tf.stack and tf.gather_nd",
        ),
        pick=(pick, "tf.gather of the last axis in batches, or tf.gather_nd"),
        masked_fill=(
            lambda data, mask, value: tf.where(mask, tf.constant(value, data.dtype), data),
            "tf.where",
        ),
        ravel_multi_index=(ravel_multi_index, "products and sums of rows"),
        unravel_index=(
            lambda indices, shape: tf.unravel_index(indices, tf.constant(shape, indices.dtype)),
            "tf.unravel_index",
        ),
        gather_nd=(
            lambda data, indices: tf.gather_nd(data, tf.transpose(indices)),
            "tf.transpose of the indices and tf.gather_nd",
        ),
        scatter_add=(
            lambda data, indices, updates, axis: tf.tensor_scatter_nd_add(data, places_along(indices, axis), updates),
            "tf.meshgrid, tf.stack and tf.tensor_scatter_nd_add",
        ),
    ),
    # Embeddings in TensorFlow, whose gradients are the rows and their places (tf.IndexedSlices).
    **rows_of(tf.gather, "tf.gather", sum=(tf.reduce_sum, "tf.reduce_sum"), mean=(tf.reduce_mean, "tf.reduce_mean")),
}
