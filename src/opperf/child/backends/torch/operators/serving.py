"""What language models need when they serve, products of few bits and state spaces, in PyTorch.

Products are PyTorch's own kernels, which libraries of quantization call, and state spaces what models write where no
fused kernel is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional as F

from opperf.child.backends.arrays.compositions import rotation
from opperf.child.backends.arrays.serving import EXPONENT, LEAST_SCALE, MOST_FLOAT8, MOST_INT8
from opperf.child.backends.binding import Binding, call, composition, compositions

ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
PROJECTED = "input=data, linear_weight=weight, target=labels"
rotate = rotation(torch.chunk, torch.cat)


def paged_attention(query: Any, key_cache: Any, value_cache: Any, page_table: Any, lengths: Any) -> Any:
    keys, values = (cache[page_table].flatten(1, 2).transpose(1, 2) for cache in (key_cache, value_cache))
    within = torch.arange(keys.shape[2], device=lengths.device) < lengths[:, None]
    return F.scaled_dot_product_attention(
        query[:, :, None], keys, values, attn_mask=within[:, None, None], enable_gqa=True
    )[:, :, 0]


def variable_length_attention(query: Any, key: Any, value: Any, lengths: tuple[int, ...]) -> Any:
    """Return the attention of one sequence after the other: nested tensors have no causal attention on a CPU."""
    parts = zip(*(tensor.transpose(0, 1).split(lengths, 1) for tensor in (query, key, value)))
    shares = {"enable_gqa": True} if query.shape[1] != key.shape[1] else {}
    results = [
        F.scaled_dot_product_attention(*(part[None] for part in each), is_causal=True, **shares)[0] for each in parts
    ]
    return torch.cat(results, 1).transpose(0, 1)


def sliding_window_attention(query: Any, key: Any, value: Any, mask: Any) -> Any:
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def window_mask(arguments: Mapping[str, Any]) -> Any:
    """Return which keys each query sees: a model makes this once for all layers and steps."""
    query, window = arguments["query"], arguments["window"]
    every = torch.ones(query.shape[-2], query.shape[-2], dtype=torch.bool, device=query.device)
    return every.tril().triu(1 - window)


def latent_attention(
    query: Any, query_turned: Any, latent: Any, key_turned: Any, key_weight: Any, value_weight: Any
) -> Any:
    """Return the attention of one query a head; keys and values are never made of the latent."""
    scale = (query.shape[-1] + query_turned.shape[-1]) ** -0.5
    absorbed = torch.bmm(query.transpose(0, 1), key_weight).transpose(0, 1)
    scores = torch.bmm(absorbed, latent.mT) + torch.bmm(query_turned, key_turned.mT)
    context = torch.bmm(torch.softmax(scores * scale, -1), latent)
    return torch.bmm(context.transpose(0, 1), value_weight).transpose(0, 1)


def cache_append(cache: Any, update: Any, positions: Any) -> Any:
    return cache.index_copy_(2, positions, update)


def update_places(arguments: Mapping[str, Any]) -> Any:
    """Return the places of new tokens, which a model is given beside them."""
    start, update = arguments["position"], arguments["update"]
    return torch.arange(start, start + update.shape[2], device=update.device)


def rotary_qk_norm(
    query: Any, key: Any, query_weight: Any, key_weight: Any, cosine: Any, sine: Any, epsilon: float
) -> Any:
    """Return queries and keys as attention wants them."""
    normal = (F.rms_norm(one, (one.shape[-1],), weight, epsilon)
              for one, weight in ((query, query_weight), (key, key_weight)))  # fmt: skip
    return tuple(rotate(one, cosine, sine) for one in normal)


def top_p_sampling(logits: Any, draws: Any, p: float) -> Any:
    shares, order = torch.sort(torch.softmax(logits, -1), descending=True)
    totals = torch.cumsum(shares, -1)
    whole = torch.where(totals - shares < p, totals, 0).amax(-1)
    places = (totals <= (draws * whole)[:, None]).sum(-1, keepdim=True)
    return order.gather(-1, places)[:, 0]


def repetition_penalty(logits: Any, tokens: Any, penalty: float) -> Any:
    scores = torch.gather(logits, 1, tokens)
    return logits.scatter(1, tokens, torch.where(scores < 0, scores * penalty, scores / penalty))


def linear_cross_entropy(data: Any, weight: Any, labels: Any) -> Any:
    return F.cross_entropy(F.linear(data, weight), labels)


def has_kernel(data: Any) -> bool:
    """Whether PyTorch has a kernel for weights of few bits: on a CPU, whose other element types have a plain loop.

    In float32 the loop takes many times as long as the weight made real and multiplied.
    """
    return bool(data.is_cpu and data.dtype is torch.bfloat16)


def float8_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    return torch._scaled_mm(lhs, rhs.t(), lhs_scale, rhs_scale, out_dtype=lhs_scale.dtype)


def int8_weight_matmul(data: Any, weight: Any, scale: Any) -> Any:
    """Return the product; where there is no kernel, the weight is made real first."""
    if has_kernel(data):
        return torch._weight_int8pack_mm(data, weight, scale)
    return torch.nn.functional.linear(data, weight.to(data.dtype)) * scale


def int4_matmul(data: Any, weight: Any, block: int, scale: Any) -> Any:
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
    blocks = data.unflatten(-1, (-1, block))
    scale = (blocks.abs().amax(-1) / MOST_INT8).clamp_min(LEAST_SCALE)
    return torch.round(blocks / scale[..., None]).to(torch.int8).flatten(-2), scale


def block_quantize_float8(data: Any, block: int) -> Any:
    blocks = data.unflatten(-1, (-1, block))
    scale = torch.exp2((torch.frexp(blocks.abs().amax(-1))[1] - EXPONENT).to(data.dtype))
    return (blocks / scale[..., None]).clamp(-MOST_FLOAT8, MOST_FLOAT8).to(torch.float8_e4m3fn).flatten(-2), scale


def dequantize(data: Any, scale: Any) -> Any:
    """Return the real numbers."""
    return (data.unflatten(-1, (scale.shape[-1], -1)).to(scale.dtype) * scale[..., None]).flatten(-2)


def block_scaled_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    return torch.nn.functional.linear(dequantize(lhs, lhs_scale), dequantize(rhs, rhs_scale))


def selective_scan(data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any) -> Any:
    decays = torch.exp(step[..., None] * decay)
    inputs = (step * data)[..., None] * input_weight[:, :, None]
    state, results = torch.zeros_like(inputs[:, 0]), []
    for decayed, comes_in, goes_out in zip(decays.unbind(1), inputs.unbind(1), output_weight.unbind(1)):
        state = decayed * state + comes_in
        results.append(torch.bmm(state, goes_out[..., None])[..., 0])
    return torch.stack(results, 1) + skip * data


def selective_state_update(
    state: Any, data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any
) -> Any:
    state.mul_(torch.exp(step[..., None] * decay)).add_((step * data)[..., None] * input_weight[:, None])
    return torch.bmm(state, output_weight[..., None])[..., 0] + skip * data


def causal_conv1d(data: Any, weight: Any, bias: Any) -> Any:
    channels, width = weight.shape
    return F.conv1d(data, weight[:, None], bias, padding=width - 1, groups=channels)[..., : data.shape[-1]]


BINDINGS: dict[str, Binding] = {
    "sliding_window_attention": composition(
        sliding_window_attention, derive={"mask": window_mask}, note=f"{ATTENTION} with a precomputed mask"
    ),
    "cache_append": composition(
        cache_append,
        "cache, update, positions",
        derive={"positions": update_places},
        note="torch.Tensor.index_copy_, with precomputed places",
    ),
    # Of versions that do not have it, models write the two.
    "linear_cross_entropy": call("torch.nn.functional.linear_cross_entropy", PROJECTED)
    if hasattr(F, "linear_cross_entropy")
    else composition(linear_cross_entropy, note="torch.nn.functional.linear and torch.nn.functional.cross_entropy"),
    **compositions(
        paged_attention=(paged_attention, f"indexing of pages, a mask, and {ATTENTION}"),
        variable_length_attention=(variable_length_attention, f"{ATTENTION} of each sequence, and torch.cat"),
        multi_head_latent_attention=(latent_attention, "five torch.bmm around torch.softmax"),
        rotary_qk_norm=(
            rotary_qk_norm,
            "torch.nn.functional.rms_norm, products, sums, and torch.cat of the exchanged halves, of both",
        ),
        top_p_sampling=(
            top_p_sampling,
            "torch.softmax, torch.sort, torch.cumsum, comparisons, sums and torch.gather",
        ),
        repetition_penalty=(repetition_penalty, "torch.gather, torch.where and torch.scatter"),
    ),
    # Products of numbers in four and eight bits.
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
    # Selective state spaces.
    **compositions(
        selective_scan=(selective_scan, "torch.exp and products; for each step a product, a sum and torch.bmm"),
        selective_state_update=(selective_state_update, "torch.exp, products and sums in place, and torch.bmm"),
        causal_conv1d=(causal_conv1d, "torch.nn.functional.conv1d with as many groups as channels, and a view"),
    ),
}
