"""What serving a language model needs, in TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.compositions import rotation
from opperf.child.backends.binding import Binding, composition, compositions

NOTE = "two tf.matmul around tf.nn.softmax"
rotate = rotation(tf.split, tf.concat)


def attend(query: Any, key: Any, value: Any, within: Any) -> Any:
    """Return the attention to keys that lie within."""
    scores = tf.matmul(query, key, transpose_b=True) * query.shape[-1] ** -0.5
    return tf.matmul(tf.nn.softmax(tf.where(within, scores, scores.dtype.min)), value)


def paged_attention(query: Any, key_cache: Any, value_cache: Any, page_table: Any, lengths: Any) -> Any:
    """Return the attention to the pages that belong to each sequence; heads that share a key stand together."""
    batch, heads, width = query.shape
    keys, values = (tf.gather(cache, page_table) for cache in (key_cache, value_cache))
    keys, values = (
        tf.transpose(tf.reshape(rows, (batch, -1, *rows.shape[3:])), (0, 2, 1, 3)) for rows in (keys, values)
    )
    within = tf.sequence_mask(lengths, keys.shape[2])[:, None, None]
    grouped = tf.reshape(query, (batch, keys.shape[1], -1, width))
    return tf.reshape(attend(grouped, keys, values, within), (batch, heads, -1))


def variable_length_attention(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return the attention of tokens to earlier ones of their own sequence; heads that share a key stand together."""
    if key.shape[1] != query.shape[1]:
        key, value = (tf.repeat(tensor, query.shape[1] // tensor.shape[1], axis=1) for tensor in (key, value))
    query, key, value = (tf.transpose(tensor, (1, 0, 2)) for tensor in (query, key, value))
    return tf.transpose(attend(query, key, value, mask), (1, 0, 2))


def sequence_mask(arguments: Mapping[str, Any]) -> Any:
    """Return which tokens each token sees."""
    lengths = arguments["lengths"]
    sequences = tf.repeat(tf.range(len(lengths)), lengths)
    return tf.linalg.band_part(sequences[:, None] == sequences, -1, 0)


def sliding_window_attention(query: Any, key: Any, value: Any, window: int) -> Any:
    """Return the attention to the last keys."""
    length = query.shape[-2]
    return attend(query, key, value, tf.linalg.band_part(tf.ones((length, length), tf.bool), window - 1, 0))


def latent_attention(
    query: Any, query_turned: Any, latent: Any, key_turned: Any, key_weight: Any, value_weight: Any
) -> Any:
    """Return the attention of one query a head; keys and values are never made of the latent."""
    scale = (query.shape[-1] + query_turned.shape[-1]) ** -0.5
    absorbed = tf.einsum("bhw,hwr->bhr", query, key_weight)
    scores = tf.matmul(absorbed, latent, transpose_b=True) + tf.matmul(query_turned, key_turned, transpose_b=True)
    context = tf.matmul(tf.nn.softmax(scores * scale), latent)
    return tf.einsum("bhr,hrv->bhv", context, value_weight)


def cache_append(cache: Any, update: Any, position: int) -> Any:
    """Return the cache with the update in its place."""
    return tf.concat((cache[:, :, :position], update, cache[:, :, position + update.shape[2] :]), 2)


def prepare(data: Any, weight: Any, cosine: Any, sine: Any, epsilon: float) -> Any:
    """Return the data normalized and turned."""
    squares = tf.reduce_mean(tf.square(data), -1, keepdims=True)
    return rotate(data * tf.math.rsqrt(squares + epsilon) * weight, cosine, sine)


def rotary_qk_norm(
    query: Any, key: Any, query_weight: Any, key_weight: Any, cosine: Any, sine: Any, epsilon: float
) -> Any:
    """Return queries and keys as attention wants them."""
    return prepare(query, query_weight, cosine, sine, epsilon), prepare(key, key_weight, cosine, sine, epsilon)


def top_p_sampling(logits: Any, draws: Any, p: float) -> Any:
    """Return the token whose share of what the likely ones have together a draw falls into."""
    shares, order = tf.math.top_k(tf.nn.softmax(logits), logits.shape[-1])
    totals = tf.cumsum(shares, -1)
    whole = tf.reduce_max(tf.where(totals - shares < p, totals, 0), -1)
    places = tf.reduce_sum(tf.cast(totals <= (draws * whole)[:, None], tf.int32), -1)
    return tf.gather(order, places, batch_dims=1)


def repetition_penalty(logits: Any, tokens: Any, penalty: float) -> Any:
    """Return logits in which tokens that were there are less likely."""
    scores = tf.gather(logits, tokens, batch_dims=1)
    rows = tf.broadcast_to(tf.range(tokens.shape[0], dtype=tokens.dtype)[:, None], tokens.shape)
    changes = tf.where(scores < 0, scores * penalty, scores / penalty)
    return tf.tensor_scatter_nd_update(logits, tf.stack((rows, tokens), -1), changes)


def linear_cross_entropy(data: Any, weight: Any, labels: Any) -> Any:
    """Return the mean loss of the last layer's logits."""
    logits = tf.matmul(data, weight, transpose_b=True)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


BINDINGS: dict[str, Binding] = {
    "variable_length_attention": composition(
        variable_length_attention,
        derive={"mask": sequence_mask},
        note=f"{NOTE}, with a precomputed mask of equal sequences",
    ),
    **compositions(
        paged_attention=(paged_attention, f"tf.gather of pages, tf.sequence_mask, and {NOTE}"),
        sliding_window_attention=(sliding_window_attention, f"{NOTE}, masked by tf.linalg.band_part and tf.where"),
        multi_head_latent_attention=(latent_attention, "tf.einsum twice, three tf.matmul and tf.nn.softmax"),
        cache_append=(cache_append, "tf.concat of what is before, the update and what is behind, into a new tensor"),
        rotary_qk_norm=(
            rotary_qk_norm,
            "tf.square, tf.reduce_mean, tf.math.rsqrt, products, sums, tf.concat",
        ),
        top_p_sampling=(
            top_p_sampling,
            "tf.nn.softmax, tf.math.top_k of all, tf.cumsum, comparisons, sums and tf.gather",
        ),
        repetition_penalty=(repetition_penalty, "tf.gather, tf.where and tf.tensor_scatter_nd_update"),
        linear_cross_entropy=(
            linear_cross_entropy,
            "tf.matmul, tf.nn.sparse_softmax_cross_entropy_with_logits and tf.reduce_mean",
        ),
    ),
}
