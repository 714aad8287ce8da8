"""Products of matrices, and linear algebra in TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.compositions import NEAR_IDENTITY, SYMMETRIC, matrices
from opperf.child.backends.binding import Binding, call, composition, compositions, functions

near_identity, symmetric = matrices(tf)


def linear(data: Any, weight: Any, bias: Any) -> Any:
    product = (
        tf.tensordot(data, weight, [[-1], [1]]) if data.shape.rank != 2 else tf.matmul(data, weight, transpose_b=True)
    )
    return product if bias is None else tf.nn.bias_add(product, bias)


def triu(data: Any, offset: int) -> Any:
    if offset <= 0:
        return tf.linalg.band_part(data, -offset, -1)
    return data - tf.linalg.band_part(data, -1, offset - 1)


def tril(data: Any, offset: int) -> Any:
    if offset >= 0:
        return tf.linalg.band_part(data, -1, offset)
    return data - tf.linalg.band_part(data, -offset - 1, -1)


def kron(lhs: Any, rhs: Any) -> Any:
    (rows, columns), (down, right) = lhs.shape, rhs.shape
    return tf.reshape(tf.einsum("ij,kl->ikjl", lhs, rhs), (rows * down, columns * right))


BINDINGS: dict[str, Binding] = {
    # Products of matrices and vectors in TensorFlow.
    **functions(
        "tf",
        {
            ("lhs, rhs", ""): "matmul batch_matmul=matmul matrix_vector=linalg.matvec",
            ("lhs, rhs", "transpose_b=True"): "matmul_transposed=matmul",
            ("lhs, rhs", "axes=0"): "outer=tensordot",
            ("lhs, rhs", "axes=1"): "dot=tensordot",
            ("lhs, rhs", "axes=axes"): "tensordot",
            # Parts of matrices in TensorFlow.
            ("data", "k=offset"): "diagonal=linalg.diag_part",
            ("data", ""): "trace=linalg.trace cholesky=linalg.cholesky qr=linalg.qr",
            ("data", "compute_uv=False"): "svd_values=linalg.svd",
            ("matrix, right", ""): "lstsq=linalg.lstsq",
        },
    ),
    **compositions(
        linear=(linear, "tf.matmul with the weight transposed, and tf.nn.bias_add"),
        syrk=(lambda data: tf.matmul(data, data, transpose_b=True), "tf.matmul with the transpose"),
        kron=(kron, "tf.einsum and tf.reshape"),
    ),
    "triu": composition(triu, note="tf.linalg.band_part, and a difference above the main diagonal"),
    "tril": composition(tril, note="tf.linalg.band_part, and a difference below the main diagonal"),
    **functions(
        "tf.linalg",
        {("data", ""): "inverse=inv determinant=det slogdet"},
        adapt={"data": near_identity},
        note=NEAR_IDENTITY,
    ),
    **functions(
        "tf.linalg",
        {("matrix, right", ""): "solve", ("matrix, right", "lower=True"): "triangular_solve"},
        adapt={"matrix": near_identity},
        note=NEAR_IDENTITY,
    ),
    "eigh_values": call("tf.linalg.eigvalsh", "data", adapt={"data": symmetric}, note=SYMMETRIC),
}
