"""Attention, and layers of experts in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax, nn

from opperf.child.backends.arrays.compositions import rotary_embedding
from opperf.child.backends.binding import Binding, composition, compositions

NOTE = "jax.nn.dot_product_attention between transposes of heads and length"


def attention(query: Any, key: Any, value: Any, causal: bool | None) -> Any:
    """Return the attention of (batch, heads, length, width); JAX's own takes (batch, length, heads, width)."""
    query, key, value = (tensor.swapaxes(1, 2) for tensor in (query, key, value))
    return nn.dot_product_attention(query, key, value, is_causal=bool(causal)).swapaxes(1, 2)


def multi_head_attention(data: Any, weight: Any, bias: Any, output_weight: Any, output_bias: Any, heads: int) -> Any:
    """Return the layer's result; the heads stand where JAX's own attention wants them."""
    batch, length, width = data.shape
    projected = (jnp.matmul(data, weight.T) + bias).reshape(batch, length, 3, heads, width // heads)
    context = nn.dot_product_attention(*(projected[:, :, i] for i in range(3))).reshape(batch, length, width)
    return jnp.matmul(context, output_weight.T) + output_bias


def top_k_routing(logits: Any, k: int) -> Any:
    weights, experts = lax.top_k(nn.softmax(logits), k)
    return weights / weights.sum(-1, keepdims=True), experts


BINDINGS: dict[str, Binding] = {
    # Attention in JAX: `jax.nn.dot_product_attention`, which has heads after the length.
    "scaled_dot_product_attention": composition(attention, note=NOTE),
    "causal_attention": composition(attention, "query, key, value, True", note=NOTE),
    "grouped_query_attention": composition(attention, note=NOTE),
    **compositions(
        multi_head_attention=(
            multi_head_attention,
            "jax.numpy.matmul and a sum, jax.nn.dot_product_attention, jax.numpy.matmul and a sum",
        ),
    ),
    **rotary_embedding(jnp.split, jnp.concatenate, "a concatenation"),
    # Layers of experts in JAX; `jax.lax.ragged_dot` is for groups that are not equal.
    **compositions(
        grouped_matmul=(
            lambda data, weight: jnp.matmul(data.reshape(weight.shape[0], -1, weight.shape[1]), weight).reshape(
                data.shape[0], -1
            ),
            "jax.numpy.matmul between reshapes",
        ),
        moe_gather=(
            lambda data, experts: jnp.take(data, jnp.argsort(experts.reshape(-1)) // experts.shape[1], axis=0),
            "jax.numpy.argsort, a division and jax.numpy.take",
        ),
        moe_scatter=(
            lambda data, tokens, weights, count: (
                jnp.zeros((count, data.shape[1]), data.dtype).at[tokens].add(data * weights[:, None])
            ),
            "a product and `zeros.at[tokens].add(rows)`",
        ),
        top_k_routing=(top_k_routing, "jax.nn.softmax, jax.lax.top_k, a sum and a division"),
    ),
}
