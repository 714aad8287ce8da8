"""PyTorch's attention, which picks one of its kernels by the inputs."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from opperf.child.backends.call import Binding, call, composed

PATH = "torch.nn.functional.scaled_dot_product_attention"
ROLES = "query=query, key=key, value=value"


def multi_head_attention(data: Any, weight: Any, bias: Any, output_weight: Any, output_bias: Any, heads: int) -> Any:
    """Return the layer's result, as a model's own module computes it."""
    batch, length, width = data.shape
    projected = F.linear(data, weight, bias).view(batch, length, 3, heads, width // heads)
    query, key, value = projected.permute(2, 0, 3, 1, 4).unbind(0)
    joined = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(batch, length, width)
    return F.linear(joined, output_weight, output_bias)


def rotary_embedding(data: Any, cosine: Any, sine: Any) -> Any:
    """Return the data turned by the angles of its places."""
    first, second = data.chunk(2, dim=-1)
    return data * cosine + torch.cat((-second, first), dim=-1) * sine


BINDINGS: dict[str, Binding] = {
    "scaled_dot_product_attention": call(PATH, ROLES, "is_causal=causal"),
    "causal_attention": call(PATH, ROLES, "is_causal=True"),
    "grouped_query_attention": call(PATH, ROLES, "is_causal=causal, enable_gqa=True"),
    "multi_head_attention": composed(
        multi_head_attention,
        "data, weight, bias, output_weight, output_bias, heads",
        note="torch.nn.functional.linear, scaled_dot_product_attention of each head, and linear",
    ),
    "rotary_embedding": composed(
        rotary_embedding, "data, cosine, sine", note="two products, a sum, and torch.cat of the exchanged halves"
    ),
}
