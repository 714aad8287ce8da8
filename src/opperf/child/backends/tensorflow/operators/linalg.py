"""Products of matrices, and linear algebra in TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from opperf.child.backends.binding import Binding, call, composition, compositions

NEAR = "of the identity plus the data over n, precomputed"
SYMMETRIC = "of the mean of the data and its transpose, precomputed"


def near_identity(data: Any) -> Any:
    """Make a matrix that is well conditioned."""
    return tf.eye(len(data), dtype=data.dtype) + data / len(data)


def symmetric(data: Any) -> Any:
    """Make a matrix that is symmetric."""
    return (data + tf.transpose(data)) / 2


def linear(data: Any, weight: Any, bias: Any) -> Any:
    """Return data weight^T + bias."""
    product = (
        tf.tensordot(data, weight, [[-1], [1]]) if data.shape.rank != 2 else tf.matmul(data, weight, transpose_b=True)
    )
    return product if bias is None else tf.nn.bias_add(product, bias)


def triu(data: Any, offset: int) -> Any:
    """Return what is on a diagonal and above."""
    if offset <= 0:
        return tf.linalg.band_part(data, -offset, -1)
    return data - tf.linalg.band_part(data, -1, offset - 1)


def tril(data: Any, offset: int) -> Any:
    """Return what is on a diagonal and below."""
    if offset >= 0:
        return tf.linalg.band_part(data, -1, offset)
    return data - tf.linalg.band_part(data, -offset - 1, -1)


def kron(lhs: Any, rhs: Any) -> Any:
    """Return the right times each element of the left."""
    (rows, columns), (down, right) = lhs.shape, rhs.shape
    return tf.reshape(tf.einsum("ij,kl->ikjl", lhs, rhs), (rows * down, columns * right))


def _call_near_identity(path: str, keywords: str = "", matrix: str = "data", more: str = "") -> Binding:
    return call(path, f"{matrix}{more}", keywords, adapt={matrix: near_identity}, note=NEAR)


BINDINGS: dict[str, Binding] = {
    # Products of matrices and vectors in TensorFlow.
    "matmul": call("tf.matmul", "lhs, rhs"),
    "matmul_transposed": call("tf.matmul", "lhs, rhs", "transpose_b=True"),
    "batch_matmul": call("tf.matmul", "lhs, rhs"),
    "matrix_vector": call("tf.linalg.matvec", "lhs, rhs"),
    "outer": call("tf.tensordot", "lhs, rhs", "axes=0"),
    "dot": call("tf.tensordot", "lhs, rhs", "axes=1"),
    "tensordot": call("tf.tensordot", "lhs, rhs", "axes=axes"),
    **compositions(
        linear=(linear, "tf.matmul with the weight transposed, and tf.nn.bias_add"),
        syrk=(lambda data: tf.matmul(data, data, transpose_b=True), "tf.matmul with the transpose"),
        kron=(kron, "tf.einsum and tf.reshape"),
    ),
    # Parts of matrices in TensorFlow.
    "trace": call("tf.linalg.trace", "data"),
    "diagonal": call("tf.linalg.diag_part", "data", "k=offset"),
    "triu": composition(triu, "data, offset", note="tf.linalg.band_part, and a difference above the main diagonal"),
    "tril": composition(tril, "data, offset", note="tf.linalg.band_part, and a difference below the main diagonal"),
    "cholesky": call("tf.linalg.cholesky", "data"),
    "inverse": _call_near_identity("tf.linalg.inv"),
    "determinant": _call_near_identity("tf.linalg.det"),
    "slogdet": _call_near_identity("tf.linalg.slogdet"),
    "solve": _call_near_identity("tf.linalg.solve", matrix="matrix", more=", right"),
    "triangular_solve": _call_near_identity("tf.linalg.triangular_solve", "lower=True", "matrix", ", right"),
    "qr": call("tf.linalg.qr", "data"),
    "svd_values": call("tf.linalg.svd", "data", "compute_uv=False"),
    "eigh_values": call("tf.linalg.eigvalsh", "data", adapt={"data": symmetric}, note=SYMMETRIC),
    "lstsq": call("tf.linalg.lstsq", "matrix, right"),
}
