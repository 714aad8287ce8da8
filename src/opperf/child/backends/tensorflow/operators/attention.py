"""Attention, and layers of experts in TensorFlow, which has no function for either."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.compositions import rotary_embedding
from opperf.child.backends.binding import Binding, compositions

NOTE = "two tf.matmul around tf.nn.softmax"


def attention(query: Any, key: Any, value: Any, causal: bool | None) -> Any:
    """Return the attention of (batch, heads, length, width); heads of keys and values may be shared."""
    shared = query.shape[1] // key.shape[1]
    if shared > 1:
        key, value = tf.repeat(key, shared, axis=1), tf.repeat(value, shared, axis=1)
    scores = tf.matmul(query, key, transpose_b=True) * query.shape[-1] ** -0.5
    if causal:
        within = tf.linalg.band_part(tf.ones(scores.shape[-2:], tf.bool), -1, 0)
        scores = tf.where(within, scores, scores.dtype.min)
    return tf.matmul(tf.nn.softmax(scores), value)


def multi_head_attention(data: Any, weight: Any, bias: Any, output_weight: Any, output_bias: Any, heads: int) -> Any:
    batch, length, width = data.shape
    projected = tf.reshape(tf.matmul(data, weight, transpose_b=True) + bias, (batch, length, 3, heads, width // heads))
    query, key, value = tf.unstack(tf.transpose(projected, (2, 0, 3, 1, 4)))
    context = tf.reshape(tf.transpose(attention(query, key, value, False), (0, 2, 1, 3)), (batch, length, width))
    return tf.matmul(context, output_weight, transpose_b=True) + output_bias


def grouped_matmul(data: Any, weight: Any) -> Any:
    groups = tf.reshape(data, (weight.shape[0], -1, weight.shape[1]))
    return tf.reshape(tf.matmul(groups, weight), (data.shape[0], -1))


def moe_gather(data: Any, experts: Any) -> Any:
    order = tf.argsort(tf.reshape(experts, (-1,)), stable=True)
    return tf.gather(data, order // experts.shape[1])


def moe_scatter(data: Any, tokens: Any, weights: Any, count: int) -> Any:
    return tf.math.unsorted_segment_sum(data * weights[:, None], tokens, count)


def top_k_routing(logits: Any, k: int) -> Any:
    weights, experts = tf.math.top_k(tf.nn.softmax(logits), k)
    return weights / tf.reduce_sum(weights, -1, keepdims=True), experts


BINDINGS: dict[str, Binding] = {
    **rotary_embedding(tf.split, tf.concat, "a concatenation"),
    **compositions(
        scaled_dot_product_attention=(attention, NOTE),
        causal_attention=(lambda query, key, value: attention(query, key, value, True), f"{NOTE}, masked by tf.where"),
        grouped_query_attention=(attention, f"tf.repeat of keys and values, and {NOTE}"),
        multi_head_attention=(multi_head_attention, f"tf.matmul, {NOTE}, tf.matmul and sums"),
        # Layers of experts in TensorFlow.
        grouped_matmul=(grouped_matmul, "tf.matmul between reshapes"),
        moe_gather=(moe_gather, "tf.argsort, a division and tf.gather"),
        moe_scatter=(moe_scatter, "a product and tf.math.unsorted_segment_sum"),
        top_k_routing=(top_k_routing, "tf.nn.softmax, tf.math.top_k, tf.reduce_sum and a division"),
    ),
}
