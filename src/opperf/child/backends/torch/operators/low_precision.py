"""Products of numbers in four and eight bits, in PyTorch: its own kernels, which libraries of quantization call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from opperf.child.backends.arrays.serving import EXPONENT, LEAST_SCALE, MOST_FLOAT8, MOST_INT8
from opperf.child.backends.binding import Binding, composition, compositions


def has_kernel(data: Any) -> bool:
    """Whether PyTorch has a kernel for weights of few bits: on a CPU, whose other element types have a plain loop.

    In float32 the loop takes many times as long as the weight made real and multiplied.
    """
    return bool(data.is_cpu and data.dtype is torch.bfloat16)


def float8_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    """Return the product in the type of the scales."""
    return torch._scaled_mm(lhs, rhs.t(), lhs_scale, rhs_scale, out_dtype=lhs_scale.dtype)


def int8_weight_matmul(data: Any, weight: Any, scale: Any) -> Any:
    """Return the product; where there is no kernel, the weight is made real first."""
    if has_kernel(data):
        return torch._weight_int8pack_mm(data, weight, scale)
    return torch.nn.functional.linear(data, weight.to(data.dtype)) * scale


def int4_matmul(data: Any, weight: Any, block: int, scale: Any) -> Any:
    """Return the product with a weight that was packed for the kernel, if there is one."""
    if has_kernel(data):
        return torch._weight_int4pack_mm_for_cpu(data, weight, block, scale)
    blocks = (torch.stack((weight & 15, weight >> 4), -1).to(data.dtype) - 8).view(*scale.shape, -1)
    return torch.nn.functional.linear(data, (blocks * scale[..., None]).view(len(weight), -1))


def pack(arguments: Mapping[str, Any]) -> Any:
    """Return the weight as the kernel wants it, which a model does once."""
    weight = arguments["weight"]
    if not has_kernel(arguments["data"]):
        return weight
    numbers = torch.stack((weight & 15, weight >> 4), -1).flatten(1).to(torch.int32)
    return torch._convert_weight_to_int4pack_for_cpu(numbers, 1)


def pair_scales(arguments: Mapping[str, Any]) -> Any:
    """Return the scales beside what is added to the products, nothing, as the kernel wants them."""
    scale = arguments["scale"]
    if not has_kernel(arguments["data"]):
        return scale
    return torch.stack((scale.t(), torch.zeros_like(scale.t())), -1).contiguous()


def block_size(arguments: Mapping[str, Any]) -> int:
    """Return how many numbers have one scale."""
    return int(arguments["data"].shape[-1] // arguments["scale"].shape[-1])


def block_quantize(data: Any, block: int) -> Any:
    """Return whole numbers, and the scales of blocks."""
    blocks = data.unflatten(-1, (-1, block))
    scale = (blocks.abs().amax(-1) / MOST_INT8).clamp_min(LEAST_SCALE)
    return torch.round(blocks / scale[..., None]).to(torch.int8).flatten(-2), scale


def block_quantize_float8(data: Any, block: int) -> Any:
    """Return floats of eight bits, and the scales of blocks, whose exponents are those of the largest less 8."""
    blocks = data.unflatten(-1, (-1, block))
    scale = torch.exp2((torch.frexp(blocks.abs().amax(-1))[1] - EXPONENT).to(data.dtype))
    return (blocks / scale[..., None]).clamp(-MOST_FLOAT8, MOST_FLOAT8).to(torch.float8_e4m3fn).flatten(-2), scale


def dequantize(data: Any, scale: Any) -> Any:
    """Return the real numbers."""
    return (data.unflatten(-1, (scale.shape[-1], -1)).to(scale.dtype) * scale[..., None]).flatten(-2)


def block_scaled_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    """Return the product of the real numbers."""
    return torch.nn.functional.linear(dequantize(lhs, lhs_scale), dequantize(rhs, rhs_scale))


BINDINGS: dict[str, Binding] = {
    "int4_matmul": composition(
        int4_matmul,
        "data, packed, block, pairs",
        derive={"packed": pack, "block": block_size, "pairs": pair_scales},
        note="of bfloat16 on a CPU torch._weight_int4pack_mm_for_cpu, with a weight packed before; else bits of bytes, "
        "a conversion, a product and torch.nn.functional.linear",
    ),
    **compositions(
        float8_matmul=(float8_matmul, "torch._scaled_mm"),
        int8_weight_matmul=(
            int8_weight_matmul,
            "of bfloat16 on a CPU torch._weight_int8pack_mm; else a conversion, a product and the scales",
        ),
        block_quantize=(block_quantize, "torch.abs, torch.amax, a quotient, torch.round and a conversion"),
        block_quantize_float8=(
            block_quantize_float8,
            "torch.abs, torch.amax, torch.frexp, torch.exp2, a quotient, torch.clamp and a conversion",
        ),
        block_scaled_matmul=(
            block_scaled_matmul,
            "two conversions and products, then torch.nn.functional.linear",
        ),
    ),
}
