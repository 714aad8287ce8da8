"""Attention, and layers of experts in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.compositions import rotary_embedding
from opperf.child.backends.binding import Binding, composition, compositions
from opperf.child.backends.numpy.operators.normalization import softmax

NOTE = "numpy.matmul twice and a softmax of four functions; numpy.tri and numpy.where when causal"


def scaled_dot_product_attention(query: Any, key: Any, value: Any, causal: bool | None) -> Any:
    """Return the values weighed by the softmax of scaled query-key products; `causal` hides later keys."""
    scores = np.matmul(query * query.shape[-1] ** -0.5, np.swapaxes(key, -1, -2))
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=np.bool_), scores, -np.inf)
    return np.matmul(softmax(scores, -1), value)


def grouped_query_attention(query: Any, key: Any, value: Any, causal: bool | None) -> Any:
    """Return the attention of heads that share keys: those of one key stand in a dimension of their own."""
    batch, heads, length, width = query.shape
    heads_by_group = query.reshape(batch, key.shape[1], heads // key.shape[1], length, width)
    result = scaled_dot_product_attention(heads_by_group, key[:, :, np.newaxis], value[:, :, np.newaxis], causal)
    return result.reshape(batch, heads, length, -1)


def multi_head_attention(data: Any, weight: Any, bias: Any, output_weight: Any, output_bias: Any, heads: int) -> Any:
    batch, length, width = data.shape
    projected = (np.matmul(data, weight.T) + bias).reshape(batch, length, 3, heads, width // heads)
    query, key, value = np.transpose(projected, (2, 0, 3, 1, 4))
    context = np.swapaxes(scaled_dot_product_attention(query, key, value, None), 1, 2).reshape(batch, length, width)
    return np.matmul(context, output_weight.T) + output_bias


def moe_scatter(data: Any, tokens: Any, weights: Any, count: int) -> Any:
    result = np.zeros((count, data.shape[1]), data.dtype)
    np.add.at(result, tokens, data * weights[:, np.newaxis])
    return result


def top_k_routing(logits: Any, k: int) -> Any:
    """Return the greatest weights, which add to one, and whose they are; NumPy sorts all of them."""
    scores = softmax(logits, -1)
    experts = np.argsort(-scores, axis=-1)[..., :k]
    weights = np.take_along_axis(scores, experts, axis=-1)
    return weights / np.sum(weights, axis=-1, keepdims=True), experts


BINDINGS: dict[str, Binding] = {
    # Attention, written in NumPy as two products and a softmax.
    "causal_attention": composition(scaled_dot_product_attention, "query, key, value, True", note=NOTE),
    **compositions(
        scaled_dot_product_attention=(scaled_dot_product_attention, NOTE),
        grouped_query_attention=(grouped_query_attention, NOTE),
        multi_head_attention=(
            multi_head_attention,
            "numpy.matmul with a transposed view and a sum, twice; between them numpy.matmul twice and a softmax",
        ),
    ),
    **rotary_embedding(np.split, np.concatenate, "numpy.concatenate"),
    # Layers of experts, written in NumPy.
    **compositions(
        grouped_matmul=(
            lambda data, weight: np.matmul(data.reshape(weight.shape[0], -1, weight.shape[1]), weight).reshape(
                data.shape[0], -1
            ),
            "numpy.matmul between views",
        ),
        moe_gather=(
            lambda data, experts: np.take(
                data, np.argsort(experts, axis=None, kind="stable") // experts.shape[1], axis=0
            ),
            "numpy.argsort, numpy.floor_divide and numpy.take",
        ),
        moe_scatter=(moe_scatter, "numpy.zeros, numpy.multiply and numpy.add.at"),
        top_k_routing=(
            top_k_routing,
            "a softmax of four functions, numpy.argsort, numpy.take_along_axis, numpy.sum and numpy.divide",
        ),
    ),
}
