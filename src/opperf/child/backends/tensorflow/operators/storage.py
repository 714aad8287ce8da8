"""Sparse and quantized tensors in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from opperf.child.backends.binding import Binding, Missing, call, composition, compositions

COORDINATES = "places and values (tf.SparseTensor)"
SPARSE_ONLY = Missing("TensorFlow multiplies a sparse tensor by a dense one only")
ROWS = Missing("TensorFlow keeps whole rows (tf.IndexedSlices) for gradients, and computes nothing with them")


def slices(arguments: Mapping[str, Any]) -> Any:
    """Return whole rows and their places."""
    values = arguments["values"]
    shape = tf.constant((arguments["count"], *values.shape[1:]), tf.int64)
    return tf.IndexedSlices(values, arguments["rows"], shape)


def transposed_matmul(lhs: Any, rhs: Any) -> Any:
    """Return the product of the transpose and a dense matrix."""
    return tf.sparse.sparse_dense_matmul(lhs, rhs, adjoint_a=True)


def square(data: Any) -> Any:
    return data.with_values(tf.square(data.values))


def to_dense(slices: Any) -> Any:
    """Return whole rows with the rows of zeros between them."""
    return tf.convert_to_tensor(slices)


def int8_matmul(lhs: Any, rhs: Any) -> Any:
    return tf.matmul(lhs, rhs, output_type=tf.int32)


def _sparse(function: Callable[..., Any], arguments: str, note: str, *sparse: str) -> Binding:
    return composition(function, arguments, adapt=dict.fromkeys(sparse, tf.sparse.from_dense), note=note)


BINDINGS: dict[str, Binding] = {
    # Sparse matrices in TensorFlow, all as places and values.
    "to_csr": call("tf.sparse.from_dense", "data", note=f"into {COORDINATES}"),
    "csr_to_dense": _sparse(tf.sparse.to_dense, "data", f"tf.sparse.to_dense of {COORDINATES}", "data"),
    "csr_matmul": _sparse(
        tf.sparse.sparse_dense_matmul, "lhs, rhs", f"tf.sparse.sparse_dense_matmul of {COORDINATES}", "lhs"
    ),
    "csr_matmul_transposed": _sparse(
        transposed_matmul,
        "lhs, rhs",
        f"tf.sparse.sparse_dense_matmul of {COORDINATES}, the first transposed",
        "lhs",
    ),
    "csr_add": _sparse(tf.sparse.add, "lhs, rhs", f"tf.sparse.add of {COORDINATES}", "lhs", "rhs"),
    "csr_multiply": SPARSE_ONLY,
    "csr_square": _sparse(
        square,
        "data",
        f"tf.square of the values of {COORDINATES}",
        "data",
    ),
    "row_sparse_to_dense": composition(
        to_dense,
        derive={"slices": slices},
        note="tf.convert_to_tensor of tf.IndexedSlices",
    ),
    "row_sparse_add": ROWS,
    "row_sparse_retain": ROWS,
    "row_sparse_matmul": SPARSE_ONLY,
    # Eight bits in TensorFlow: arithmetic to and fro, and a product that says what it is summed in.
    "int8_matmul": composition(int8_matmul, note="tf.matmul with `output_type=tf.int32`"),
    **compositions(
        quantize_int8=(
            lambda data, scale, zero_point: tf.cast(
                tf.clip_by_value(tf.round(data / scale) + zero_point, -128, 127), tf.int8
            ),
            "a division, tf.round, a sum, tf.clip_by_value and tf.cast; ties go to even",
        ),
        dequantize_int8=(
            lambda data, scale, zero_point: (tf.cast(data, tf.float32) - zero_point) * scale,
            "tf.cast, a difference and a product",
        ),
    ),
}
