"""MXNet's products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.call import Binding, call
from opperf.child.backends.mxnet.spelling import Settled, settled


def _matmul(lhs: Any, rhs: Any) -> Settled:
    """Matrices meet in `nd.dot`; batches, which it would pair in another way, and two vectors in `np.matmul`."""
    plain = lhs.ndim <= 2 and rhs.ndim <= 2 and lhs.ndim + rhs.ndim > 2
    return "nd.dot" if plain else "np.matmul", (lhs, rhs), {}


def _batch_matmul(lhs: Any, rhs: Any) -> Settled:
    plain = lhs.ndim == rhs.ndim == 3 and lhs.shape[0] == rhs.shape[0]
    return "nd.batch_dot" if plain else "np.matmul", (lhs, rhs), {}


def _outputs(case: Mapping[str, Any]) -> int:
    return int(case["weight"].shape[0])


BINDINGS: dict[str, Binding] = {
    "matmul": settled("nd.dot", "lhs, rhs", settle=_matmul, also=("nd.dot", "np.matmul")),
    "matmul_transposed": call("nd.linalg.gemm2", "A=lhs, B=rhs", "transpose_b=True"),
    "batch_matmul": settled("nd.batch_dot", "lhs, rhs", settle=_batch_matmul, also=("nd.batch_dot", "npx.batch_dot")),
    "linear": call(
        "nd.FullyConnected",
        "data, weight, bias",
        "num_hidden=num_hidden, flatten=False",
        derive={"num_hidden": _outputs},
    ),
    # Who names nd.dot means the product of matrices.
    "matrix_vector": settled("nd.dot", "lhs, rhs", settle=lambda lhs, rhs: ("nd.dot", (lhs, rhs), {})),
    "outer": call("np.outer", "a=lhs, b=rhs"),
    # nd.dot returns shape (1,) here.
    "dot": call("np.dot", "a=lhs, b=rhs"),
}
