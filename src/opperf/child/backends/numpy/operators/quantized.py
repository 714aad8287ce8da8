"""Eight bits in NumPy: arithmetic to and fro, and a product that BLAS has no part in."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed


def quantize_int8(data: Any, scale: float, zero_point: int) -> Any:
    """Return the nearest numbers of eight bits."""
    return np.clip(np.rint(data / scale) + zero_point, -128, 127).astype(np.int8)


def dequantize_int8(data: Any, scale: float, zero_point: int) -> Any:
    """Return what eight bits stand for."""
    return (data.astype(np.float32) - zero_point) * scale


ARGUMENTS = "data, scale, zero_point"

BINDINGS: dict[str, Binding] = {
    "quantize_int8": composed(
        quantize_int8, ARGUMENTS, note="numpy.divide, numpy.rint, numpy.add, numpy.clip and a cast; ties go to even"
    ),
    "dequantize_int8": composed(dequantize_int8, ARGUMENTS, note="a cast, numpy.subtract and numpy.multiply"),
    "int8_matmul": call("numpy.matmul", "x1=lhs, x2=rhs", "dtype='int32'"),
}
