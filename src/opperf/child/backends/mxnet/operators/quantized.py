"""Eight bits in MXNet: arithmetic to and fro."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding, Missing
from opperf.child.backends.mxnet.spelling import composed


def quantize_int8(F: Any, data: Any, *, scale: float, zero_point: int) -> Any:
    """Take the nearest numbers of eight bits; `nd.contrib.quantize` knows ranges, no scale and zero point."""
    return F.cast(F.clip(F.rint(data / scale) + zero_point, a_min=-128, a_max=127), dtype="int8")


def dequantize_int8(F: Any, data: Any, *, scale: float, zero_point: int) -> Any:
    """Take what eight bits stand for."""
    return (F.cast(data, dtype="float32") - zero_point) * scale


SETTINGS = "scale=scale, zero_point=zero_point"

BINDINGS: dict[str, Binding] = {
    "quantize_int8": composed(
        quantize_int8, "data", SETTINGS, note="a division, nd.rint, a sum, nd.clip and nd.cast; ties go down"
    ),
    "dequantize_int8": composed(dequantize_int8, "data", SETTINGS, note="nd.cast, a difference and a product"),
    "int8_matmul": Missing(
        "MXNet multiplies matrices of floating types only; its quantized layers take ranges beside them and return such"
    ),
}
