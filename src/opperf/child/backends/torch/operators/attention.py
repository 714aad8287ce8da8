"""Attention, and layers of experts in PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from opperf.child.backends.arrays.compositions import rotary_embedding
from opperf.child.backends.binding import Binding, call, compositions

PATH = "torch.nn.functional.scaled_dot_product_attention"
ROLES = "query=query, key=key, value=value"


def multi_head_attention(data: Any, weight: Any, bias: Any, output_weight: Any, output_bias: Any, heads: int) -> Any:
    """Return the layer's result, as a model's own module computes it."""
    batch, length, width = data.shape
    projected = F.linear(data, weight, bias).view(batch, length, 3, heads, width // heads)
    query, key, value = projected.permute(2, 0, 3, 1, 4).unbind(0)
    context = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(batch, length, width)
    return F.linear(context, output_weight, output_bias)


def moe_gather(data: Any, experts: Any) -> Any:
    order = torch.argsort(experts.reshape(-1), stable=True)
    return torch.index_select(data, 0, order // experts.shape[1])


def top_k_routing(logits: Any, k: int) -> Any:
    weights, experts = torch.topk(torch.softmax(logits, -1), k, -1)
    return weights / weights.sum(-1, keepdim=True), experts


BINDINGS: dict[str, Binding] = {
    # PyTorch's attention, which picks one of its kernels by the inputs.
    "scaled_dot_product_attention": call(PATH, ROLES, "is_causal=causal"),
    "causal_attention": call(PATH, ROLES, "is_causal=True"),
    "grouped_query_attention": call(PATH, ROLES, "is_causal=causal, enable_gqa=True"),
    **compositions(
        multi_head_attention=(
            multi_head_attention,
            "torch.nn.functional.linear, scaled_dot_product_attention of each head, and linear",
        ),
    ),
    **rotary_embedding(torch.chunk, torch.cat, "torch.cat"),
    # Layers of experts in PyTorch.
    **compositions(
        grouped_matmul=(
            lambda data, weight: torch.bmm(data.view(weight.shape[0], -1, weight.shape[1]), weight).view(
                data.shape[0], -1
            ),
            "torch.bmm between views",
        ),
        moe_gather=(moe_gather, "torch.argsort, a division and torch.index_select"),
        moe_scatter=(
            lambda data, tokens, weights, count: data.new_zeros(count, data.shape[1]).index_add(
                0, tokens, data * weights[:, None]
            ),
            "zeros, a product and torch.Tensor.index_add",
        ),
        top_k_routing=(top_k_routing, "torch.softmax, torch.topk, a sum and a division"),
    ),
}
