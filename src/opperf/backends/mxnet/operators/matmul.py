"""MXNet's products of matrices and vectors."""

from __future__ import annotations

from typing import Any

from opperf.backends.call import Binding, call
from opperf.backends.mxnet.spelling import Settled, settled


def _matmul(lhs: Any, rhs: Any) -> Settled:
    """Matrices meet in `nd.dot`; batches, which it would pair in another way, and two vectors in `np.matmul`."""
    plain = lhs.ndim <= 2 and rhs.ndim <= 2 and lhs.ndim + rhs.ndim > 2
    return "nd.dot" if plain else "np.matmul", (lhs, rhs), {}


def _batch_matmul(lhs: Any, rhs: Any) -> Settled:
    plain = lhs.ndim == rhs.ndim == 3 and lhs.shape[0] == rhs.shape[0]
    return "nd.batch_dot" if plain else "np.matmul", (lhs, rhs), {}


def _linear(data: Any, weight: Any, bias: Any) -> Settled:
    return "nd.FullyConnected", (data, weight, bias), {"num_hidden": weight.shape[0], "flatten": False}


BINDINGS: dict[str, Binding] = {
    "matmul": settled("nd.dot", "lhs, rhs", settle=_matmul),
    "matmul_transposed": call("nd.linalg.gemm2", "lhs, rhs", "transpose_b=True"),
    "batch_matmul": settled("nd.batch_dot", "lhs, rhs", settle=_batch_matmul),
    "linear": settled("nd.FullyConnected", "data, weight, bias", settle=_linear),
    "matrix_vector": call("nd.dot", "lhs, rhs"),
    "outer": call("np.outer", "lhs, rhs"),
    # nd.dot returns shape (1,) here.
    "dot": call("np.dot", "lhs, rhs"),
}
