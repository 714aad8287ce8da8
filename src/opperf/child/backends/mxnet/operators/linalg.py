"""Products of matrices, and linear algebra in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.arrays.compositions import NEAR_IDENTITY, SYMMETRIC
from opperf.child.backends.binding import Binding, Missing, call
from opperf.child.backends.mxnet.spelling import CallSpec, adjust, composition, extent

# MXNet's products of matrices and vectors.


def _matmul(lhs: Any, rhs: Any) -> CallSpec:
    """Matrices meet in `nd.dot`; batches, which it would pair in another way, and two vectors in `np.matmul`."""
    plain = lhs.ndim <= 2 and rhs.ndim <= 2 and lhs.ndim + rhs.ndim > 2
    return "nd.dot" if plain else "np.matmul", (lhs, rhs), {}


def _batch_matmul(lhs: Any, rhs: Any) -> CallSpec:
    plain = lhs.ndim == rhs.ndim == 3 and lhs.shape[0] == rhs.shape[0]
    return "nd.batch_dot" if plain else "np.matmul", (lhs, rhs), {}


# MXNet's parts of matrices.

#: Seen in 1.9.1: the gradient of any cotangent is zero.
EIGH_GRADIENT = "the gradient of MXNet's `eigvalsh` is zero everywhere"


def near_identity(data: Any) -> Any:
    """Make a matrix that is well conditioned."""
    return _identity(data) + data / data.shape[0]


def symmetric(data: Any) -> Any:
    """Make a matrix that is symmetric."""
    return (data + data.T) / 2


def _identity(data: Any) -> Any:
    return mx.nd.eye(data.shape[0], ctx=data.context, dtype=data.dtype)


def triu(F: Any, data: Any, offset: int = 0) -> Any:
    """Turn the matrix over, as there is only the lower triangle."""
    transpose = F.np.tril(F.np.swapaxes(data, -1, -2), -offset)
    return F.np.swapaxes(transpose, -1, -2)


BINDINGS: dict[str, Binding] = {
    "matmul": adjust("nd.dot", "lhs, rhs", settle=_matmul, also=("nd.dot", "np.matmul")),
    "matmul_transposed": call("nd.linalg.gemm2", "A=lhs, B=rhs", "transpose_b=True"),
    "batch_matmul": adjust("nd.batch_dot", "lhs, rhs", settle=_batch_matmul, also=("nd.batch_dot", "npx.batch_dot")),
    "linear": call(
        "nd.FullyConnected",
        "data, weight, bias",
        "num_hidden=num_hidden, flatten=False",
        derive={"num_hidden": extent("weight", 0)},
    ),
    # Who names nd.dot means the product of matrices.
    "matrix_vector": adjust("nd.dot", "lhs, rhs", settle=lambda lhs, rhs: ("nd.dot", (lhs, rhs), {})),
    "outer": call("np.outer", "a=lhs, b=rhs"),
    # nd.dot returns shape (1,) here.
    "dot": call("np.dot", "a=lhs, b=rhs"),
    # nd.linalg has no trace, and `nd` no tensor without dimensions.
    "trace": call("np.trace", "a=data"),
    "diagonal": call("nd.diag", "data", "k=offset"),
    "triu": composition(triu, note="np.tril between two np.swapaxes, composed", numpy=True),
    "tril": call("np.tril", "m=data", "k=offset"),
    "cholesky": call("nd.linalg.potrf", "data", also=("np.linalg.cholesky",)),
    "inverse": call(
        "nd.linalg.inverse", "data", adapt={"data": near_identity}, note=NEAR_IDENTITY, also=("np.linalg.inv",)
    ),
    "determinant": call("np.linalg.det", "data", adapt={"data": near_identity}, note=NEAR_IDENTITY),
    "slogdet": call("np.linalg.slogdet", "data", adapt={"data": near_identity}, note=NEAR_IDENTITY),
    "qr": Missing("`np.linalg.qr` of MXNet 1.9 is NumPy's own function, and `nd.linalg.gelqf` is of the transpose"),
    "svd_values": Missing("`np.linalg.svd` of MXNet 1.9 computes the vectors always"),
    "eigh_values": call(
        "np.linalg.eigvalsh",
        "data",
        adapt={"data": symmetric},
        note=SYMMETRIC,
        unsupported=dict.fromkeys(("backward", "forward_backward"), EIGH_GRADIENT),
    ),
    "solve": call("np.linalg.solve", "matrix, right", adapt={"matrix": near_identity}, note=NEAR_IDENTITY),
    "triangular_solve": call("nd.linalg.trsm", "matrix, right", adapt={"matrix": near_identity}, note=NEAR_IDENTITY),
    "lstsq": Missing("`np.linalg.lstsq` of MXNet 1.9 is NumPy's own function, which does not take MXNet arrays"),
    "kron": Missing("MXNet 1.9 has no Kronecker product; `nd.khatri_rao` is one for each column"),
    "tensordot": call("np.tensordot", "a=lhs, b=rhs", "axes=axes"),
    "syrk": call("nd.linalg.syrk", "data"),
}
