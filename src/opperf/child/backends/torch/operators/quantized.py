"""Eight bits in PyTorch: arithmetic to and fro, and the product that `torch.compile` and quantized models call."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, call, composed


def quantize_int8(data: Any, scale: float, zero_point: int) -> Any:
    """Return the nearest numbers of eight bits."""
    return torch.clamp(torch.round(data / scale) + zero_point, -128, 127).to(torch.int8)


def dequantize_int8(data: Any, scale: float, zero_point: int) -> Any:
    """Return what eight bits stand for."""
    return (data.to(torch.float32) - zero_point) * scale


ARGUMENTS = "data, scale, zero_point"

BINDINGS: dict[str, Binding] = {
    "quantize_int8": composed(
        quantize_int8, ARGUMENTS, note="a division, torch.round, a sum, torch.clamp and a cast; ties go to even numbers"
    ),
    "dequantize_int8": composed(dequantize_int8, ARGUMENTS, note="a cast, a difference and a product"),
    "int8_matmul": call("torch._int_mm", "self=lhs, mat2=rhs", also=("aten::_int_mm",)),
}
