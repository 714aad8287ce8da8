"""Recurrent layers, sequences of unequal length, and segments in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.compositions import histogram_range
from opperf.child.backends.arrays.recurrent import cells, layers
from opperf.child.backends.binding import Binding, call, compositions


def product(values: Any, weight: Any, bias: Any) -> Any:
    """Return the product with the transposed weight, and the bias."""
    return tf.matmul(values, weight, transpose_b=True) + bias


def run(data: Any, states: Any, weights: Any, step: Callable[..., Any], *, reverse: bool = False) -> tuple[Any, Any]:
    """Return every hidden state of a sequence, and the last states; TensorFlow multiplies all data at once."""
    data, steps = tf.reverse(data, (0,)) if reverse else data, []
    rows = product(tf.reshape(data, (-1, data.shape[2])), weights[0], weights[2])
    for of_data in tf.unstack(tf.reshape(rows, (*data.shape[:2], -1))):
        states = step(of_data, product(states[0], weights[1], weights[3]), states)
        steps.append(states[0])
    return tf.stack(steps[::-1] if reverse else steps), states


def sequence_mask(data: Any, lengths: Any, value: float) -> Any:
    within = tf.transpose(tf.sequence_mask(lengths, data.shape[0]))
    return tf.where(within[..., None], data, tf.constant(value, data.dtype))


def sequence_last(data: Any, lengths: Any) -> Any:
    return tf.gather_nd(data, tf.stack([lengths - 1, tf.range(data.shape[1], dtype=lengths.dtype)], axis=1))


def segment_max(data: Any, segments: Any, count: int) -> Any:
    """Return the greatest rows; TensorFlow's are the lowest number where a segment is empty."""
    greatest = tf.math.unsorted_segment_max(data, segments, count)
    return tf.where(greatest == data.dtype.min, tf.constant(float("-inf"), data.dtype), greatest)


def places_along(indices: Any, axis: int) -> Any:
    """Return the whole places of elements whose place along one axis is given."""
    grid = tf.meshgrid(*(tf.range(size, dtype=indices.dtype) for size in indices.shape), indexing="ij")
    grid[axis] = indices
    return tf.stack(grid, axis=-1)


BINDINGS: dict[str, Binding] = {
    # Sequences of unequal length in TensorFlow.
    **compositions(
        sequence_mask=(sequence_mask, "tf.sequence_mask, a transpose and tf.where"),
        sequence_last=(sequence_last, "tf.range, tf.stack and tf.gather_nd"),
    ),
    "sequence_reverse": call("tf.reverse_sequence", "data, lengths", "seq_axis=0, batch_axis=1"),
    # TensorFlow's sums, means, greatest and counts by index.
    "segment_sum": call("tf.math.unsorted_segment_sum", "data, segments", "num_segments=count"),
    "segment_mean": call("tf.math.unsorted_segment_mean", "data, segments", "num_segments=count"),
    "bincount": call("tf.math.bincount", "data", "minlength=count, maxlength=count"),
    "histogram": call(
        "tf.histogram_fixed_width",
        "data",
        "value_range=range, nbins=bins, dtype=dtype",
        derive={"range": histogram_range, "dtype": lambda arguments: tf.int32},
    ),
    "searchsorted": call("tf.searchsorted", "data, values", adapt={"data": tf.sort}),
    **compositions(
        segment_max=(segment_max, "tf.math.unsorted_segment_max, a comparison and tf.where"),
        index_add=(
            lambda data, indices, updates: tf.tensor_scatter_nd_add(data, indices[:, None], updates),
            "tf.tensor_scatter_nd_add",
        ),
        scatter_reduce_amax=(
            lambda data, indices, updates, axis: tf.tensor_scatter_nd_max(data, places_along(indices, axis), updates),
            "tf.meshgrid, tf.stack and tf.tensor_scatter_nd_max",
        ),
    ),
    # Recurrent cells and layers in TensorFlow.
    **cells(tf, "two products and the functions of the gates", product=product, sigmoid=tf.sigmoid, relu=tf.nn.relu),
    **layers(
        tf,
        "a product of the sequence, and a loop over the steps in Python, which a program unrolls",
        run=run,
        concatenate=tf.concat,
        sigmoid=tf.sigmoid,
    ),
}
