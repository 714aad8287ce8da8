"""Attention in JAX: `jax.nn.dot_product_attention`, which has heads after the length."""

from __future__ import annotations

from typing import Any

from jax import nn

from opperf.backends.call import Binding, composed


def attention(query: Any, key: Any, value: Any, causal: bool | None) -> Any:
    """Return the attention of (batch, heads, length, width); JAX's own takes (batch, length, heads, width)."""
    query, key, value = (tensor.swapaxes(1, 2) for tensor in (query, key, value))
    return nn.dot_product_attention(query, key, value, is_causal=bool(causal)).swapaxes(1, 2)


BINDINGS: dict[str, Binding] = {
    "scaled_dot_product_attention": composed(
        attention,
        "query, key, value, causal",
        note="jax.nn.dot_product_attention between transposes of heads and length",
    ),
}
