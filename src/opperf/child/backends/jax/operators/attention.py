"""Attention in JAX: `jax.nn.dot_product_attention`, which has heads after the length."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import nn

from opperf.child.backends.call import Binding, composed

NOTE = "jax.nn.dot_product_attention between transposes of heads and length"


def attention(query: Any, key: Any, value: Any, causal: bool | None) -> Any:
    """Return the attention of (batch, heads, length, width); JAX's own takes (batch, length, heads, width)."""
    query, key, value = (tensor.swapaxes(1, 2) for tensor in (query, key, value))
    return nn.dot_product_attention(query, key, value, is_causal=bool(causal)).swapaxes(1, 2)


def multi_head_attention(data: Any, weight: Any, bias: Any, output_weight: Any, output_bias: Any, heads: int) -> Any:
    """Return the layer's result; the heads stand where JAX's own attention wants them."""
    batch, length, width = data.shape
    projected = (jnp.matmul(data, weight.T) + bias).reshape(batch, length, 3, heads, width // heads)
    joined = nn.dot_product_attention(*(projected[:, :, i] for i in range(3))).reshape(batch, length, width)
    return jnp.matmul(joined, output_weight.T) + output_bias


def rotary_embedding(data: Any, cosine: Any, sine: Any) -> Any:
    """Return the data turned by the angles of its places."""
    first, second = jnp.split(data, 2, axis=-1)
    return data * cosine + jnp.concatenate((-second, first), axis=-1) * sine


BINDINGS: dict[str, Binding] = {
    "scaled_dot_product_attention": composed(attention, "query, key, value, causal", note=NOTE),
    "causal_attention": composed(attention, "query, key, value, True", note=NOTE),
    "grouped_query_attention": composed(attention, "query, key, value, causal", note=NOTE),
    "multi_head_attention": composed(
        multi_head_attention,
        "data, weight, bias, output_weight, output_bias, heads",
        note="jax.numpy.matmul and a sum, jax.nn.dot_product_attention, jax.numpy.matmul and a sum",
    ),
    "rotary_embedding": composed(
        rotary_embedding, "data, cosine, sine", note="two products, a sum, and a concatenation of the exchanged halves"
    ),
}
