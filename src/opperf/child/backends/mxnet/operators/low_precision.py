"""Products of numbers in eight bits, in MXNet."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.binding import Binding, gaps
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, composition


def int8_weight_matmul(F: Any, data: Any, weight: Any, scale: Any, *, dtype: str, columns: int) -> Any:
    """Multiply with the weight as real numbers, and scale."""
    product = F.FullyConnected(data, F.cast(weight, dtype=dtype), num_hidden=columns, no_bias=True)
    return F.broadcast_mul(product, F.expand_dims(scale, axis=0))


def _product(data: Any, weight: Any, scale: Any) -> CallSpec:
    keywords = {"dtype": data.dtype.__name__, "columns": weight.shape[0]}
    return Composition(int8_weight_matmul), (data, weight, scale), keywords


BINDINGS: dict[str, Binding] = {
    "int8_weight_matmul": composition(
        int8_weight_matmul,
        "data, weight, scale",
        note="nd.cast, nd.FullyConnected and nd.broadcast_mul",
        settle=_product,
    ),
    **gaps("MXNet 1.9 has no floating type of eight bits", "float8_matmul block_quantize_float8"),
    **gaps("MXNet 1.9 has no shifts of bits", "int4_matmul"),
    **gaps("MXNet's eight bits have one scale for a whole tensor", "block_quantize block_scaled_matmul"),
}
