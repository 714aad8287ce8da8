"""What language models need when they serve, products of few bits and state spaces, in TensorFlow.

Numbers of few bits are made real ones, and multiplied as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.compositions import rotation
from opperf.child.backends.arrays.serving import LEAST_SCALE, MOST_INT8
from opperf.child.backends.binding import Binding, composition, compositions, gaps

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
    lengths = arguments["lengths"]
    sequences = tf.repeat(tf.range(len(lengths)), lengths)
    return tf.linalg.band_part(sequences[:, None] == sequences, -1, 0)


def sliding_window_attention(query: Any, key: Any, value: Any, window: int) -> Any:
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
    shares, order = tf.math.top_k(tf.nn.softmax(logits), logits.shape[-1])
    totals = tf.cumsum(shares, -1)
    whole = tf.reduce_max(tf.where(totals - shares < p, totals, 0), -1)
    places = tf.reduce_sum(tf.cast(totals <= (draws * whole)[:, None], tf.int32), -1)
    return tf.gather(order, places, batch_dims=1)


def repetition_penalty(logits: Any, tokens: Any, penalty: float) -> Any:
    scores = tf.gather(logits, tokens, batch_dims=1)
    rows = tf.broadcast_to(tf.range(tokens.shape[0], dtype=tokens.dtype)[:, None], tokens.shape)
    changes = tf.where(scores < 0, scores * penalty, scores / penalty)
    return tf.tensor_scatter_nd_update(logits, tf.stack((rows, tokens), -1), changes)


def linear_cross_entropy(data: Any, weight: Any, labels: Any) -> Any:
    logits = tf.matmul(data, weight, transpose_b=True)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def int8_weight_matmul(data: Any, weight: Any, scale: Any) -> Any:
    return tf.matmul(data, tf.cast(weight, data.dtype), transpose_b=True) * scale


def int4_matmul(data: Any, weight: Any, scale: Any) -> Any:
    numbers = tf.stack((tf.bitwise.bitwise_and(weight, 15), tf.bitwise.right_shift(weight, 4)), -1)
    blocks = tf.reshape(tf.cast(numbers, data.dtype) - 8, (*scale.shape, -1)) * scale[..., None]
    return tf.matmul(data, tf.reshape(blocks, (weight.shape[0], -1)), transpose_b=True)


def block_quantize(data: Any, block: int) -> Any:
    blocks = tf.reshape(data, (*data.shape[:-1], -1, block))
    scale = tf.maximum(tf.reduce_max(tf.abs(blocks), -1) / MOST_INT8, LEAST_SCALE)
    return tf.reshape(tf.cast(tf.round(blocks / scale[..., None]), tf.int8), data.shape), scale


def dequantize(data: Any, scale: Any) -> Any:
    """Return the real numbers."""
    blocks = tf.reshape(tf.cast(data, scale.dtype), (*scale.shape, -1)) * scale[..., None]
    return tf.reshape(blocks, data.shape)


def block_scaled_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    return tf.matmul(dequantize(lhs, lhs_scale), dequantize(rhs, rhs_scale), transpose_b=True)


def selective_scan(data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any) -> Any:
    decays = tf.exp(step[..., None] * decay)
    inputs = (step * data)[..., None] * input_weight[:, :, None]
    state, results = tf.zeros_like(inputs[:, 0]), []
    for decayed, comes_in, goes_out in zip(*(tf.unstack(each, axis=1) for each in (decays, inputs, output_weight))):
        state = decayed * state + comes_in
        results.append(tf.linalg.matvec(state, goes_out))
    return tf.stack(results, 1) + skip * data


def selective_state_update(
    state: Any, data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any
) -> Any:
    state = tf.exp(step[..., None] * decay) * state + (step * data)[..., None] * input_weight[:, None]
    return tf.linalg.matvec(state, output_weight) + skip * data, state


def causal_conv1d(data: Any, weight: Any, bias: Any) -> Any:
    """Return the sum of the weighed data, shifted by as many places as each weight lies in the past."""
    length, width = data.shape[-1], weight.shape[-1]
    wide = tf.pad(data, ((0, 0), (0, 0), (width - 1, 0)))
    return tf.add_n([wide[..., i : i + length] * weight[:, i : i + 1] for i in range(width)]) + bias[:, None]


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
    # Products of numbers in four and eight bits.
    **compositions(
        int8_weight_matmul=(int8_weight_matmul, "tf.cast, tf.matmul and a product"),
        int4_matmul=(int4_matmul, "tf.bitwise.bitwise_and and right_shift, tf.stack, tf.cast, a product and tf.matmul"),
        block_quantize=(block_quantize, "tf.abs, tf.reduce_max, a quotient, tf.round and tf.cast"),
        block_scaled_matmul=(block_scaled_matmul, "tf.cast and a product of both, then tf.matmul"),
    ),
    **gaps("TensorFlow has no product of floating types of eight bits", "float8_matmul"),
    **gaps("TensorFlow has no `frexp`, by which scales get the exponents of numbers", "block_quantize_float8"),
    # Selective state spaces.
    **compositions(
        selective_scan=(selective_scan, "tf.exp and products; for each step a product, a sum and tf.linalg.matvec"),
        selective_state_update=(
            selective_state_update,
            "tf.exp, products and sums into a new state, and tf.linalg.matvec",
        ),
        causal_conv1d=(causal_conv1d, "tf.pad, a product for each weight, tf.add_n and a sum"),
    ),
}
