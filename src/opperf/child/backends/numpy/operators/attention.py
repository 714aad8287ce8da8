"""Attention, written in NumPy as two products and a softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, composed
from opperf.child.backends.numpy.operators.softmax import softmax

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
    grouped = query.reshape(batch, key.shape[1], heads // key.shape[1], length, width)
    found = scaled_dot_product_attention(grouped, key[:, :, np.newaxis], value[:, :, np.newaxis], causal)
    return found.reshape(batch, heads, length, -1)


def multi_head_attention(data: Any, weight: Any, bias: Any, output_weight: Any, output_bias: Any, heads: int) -> Any:
    """Return the layer's result."""
    batch, length, width = data.shape
    projected = (np.matmul(data, weight.T) + bias).reshape(batch, length, 3, heads, width // heads)
    query, key, value = np.transpose(projected, (2, 0, 3, 1, 4))
    joined = np.swapaxes(scaled_dot_product_attention(query, key, value, None), 1, 2).reshape(batch, length, width)
    return np.matmul(joined, output_weight.T) + output_bias


def rotary_embedding(data: Any, cosine: Any, sine: Any) -> Any:
    """Return the data turned by the angles of its places."""
    first, second = np.split(data, 2, axis=-1)
    return data * cosine + np.concatenate((-second, first), axis=-1) * sine


BINDINGS: dict[str, Binding] = {
    "scaled_dot_product_attention": composed(scaled_dot_product_attention, "query, key, value, causal", note=NOTE),
    "causal_attention": composed(scaled_dot_product_attention, "query, key, value, True", note=NOTE),
    "grouped_query_attention": composed(grouped_query_attention, "query, key, value, causal", note=NOTE),
    "multi_head_attention": composed(
        multi_head_attention,
        "data, weight, bias, output_weight, output_bias, heads",
        note="numpy.matmul with a transposed view and a sum, twice; between them numpy.matmul twice and a softmax",
    ),
    "rotary_embedding": composed(
        rotary_embedding,
        "data, cosine, sine",
        note="two products, a sum, and numpy.concatenate of the exchanged halves",
    ),
}
