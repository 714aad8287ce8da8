"""What language models need when they serve, products of few bits and state spaces, in JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jax import lax, nn

from opperf.child.backends.arrays.serving import EXPONENT, MOST_FLOAT8, quantized, serving, states
from opperf.child.backends.binding import Binding, composition, compositions


def paged_attention(query: Any, key_cache: Any, value_cache: Any, page_table: Any, lengths: Any) -> Any:
    batch = query.shape[0]
    keys, values = (jnp.take(cache, page_table, axis=0) for cache in (key_cache, value_cache))
    keys, values = (rows.reshape(batch, -1, *rows.shape[3:]) for rows in (keys, values))
    lengths = lengths.astype(jnp.int32)
    return nn.dot_product_attention(query[:, None], keys, values, key_value_seq_lengths=lengths)[:, 0]


def variable_length_attention(query: Any, key: Any, value: Any, sequences: Any) -> Any:
    mask = sequences[:, None] == sequences
    tensors = (tensor[None] for tensor in (query, key, value))
    return nn.dot_product_attention(*tensors, mask=mask[None, None], is_causal=True)[0]


def sequence_of_each(arguments: Mapping[str, Any]) -> Any:
    """Return the number of each token's sequence."""
    lengths = arguments["lengths"]
    return jnp.repeat(jnp.arange(len(lengths)), jnp.asarray(lengths), total_repeat_length=sum(lengths))


def sliding_window_attention(query: Any, key: Any, value: Any, window: int) -> Any:
    """Return the attention to the last keys; JAX's own takes (batch, length, heads, width)."""
    query, key, value = (tensor.swapaxes(1, 2) for tensor in (query, key, value))
    past = (window - 1, 0)
    return nn.dot_product_attention(query, key, value, is_causal=True, local_window_size=past).swapaxes(1, 2)


def cache_append(cache: Any, update: Any, position: int) -> Any:
    return lax.dynamic_update_slice_in_dim(cache, update, position, axis=2)


def repetition_penalty(logits: Any, tokens: Any, penalty: float) -> Any:
    scores = jnp.take_along_axis(logits, tokens, axis=-1)
    rows = jnp.arange(len(tokens))[:, None]
    return logits.at[rows, tokens].set(jnp.where(scores < 0, scores * penalty, scores / penalty))


def float8_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    return jnp.matmul(lhs, rhs.T, preferred_element_type=lhs_scale.dtype) * (lhs_scale * rhs_scale)


def block_quantize_float8(data: Any, block: int) -> Any:
    blocks = data.reshape(*data.shape[:-1], -1, block)
    exponents = jnp.frexp(jnp.max(jnp.abs(blocks), axis=-1))[1]
    scale = jnp.exp2((exponents - EXPONENT).astype(data.dtype))
    numbers = jnp.clip(blocks / scale[..., None], -MOST_FLOAT8, MOST_FLOAT8).astype(jnp.float8_e4m3fn)
    return numbers.reshape(data.shape), scale


def selective_scan(data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any) -> Any:
    """Return the sequence, scanned along its length; states are never all in memory."""

    def advance(state: Any, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        row, size, comes_in, goes_out = inputs
        state = jnp.exp(size[..., None] * decay) * state + (size * row)[..., None] * comes_in[:, None]
        return state, jnp.matmul(state, goes_out[..., None])[..., 0]

    start = jnp.zeros((data.shape[0], *decay.shape), data.dtype)
    steps = tuple(jnp.swapaxes(tensor, 0, 1) for tensor in (data, step, input_weight, output_weight))
    return jnp.swapaxes(lax.scan(advance, start, steps)[1], 0, 1) + skip * data


def causal_conv1d(data: Any, weight: Any, bias: Any) -> Any:
    channels, width = weight.shape
    result = lax.conv_general_dilated(data, weight[:, None], (1,), [(width - 1, 0)], feature_group_count=channels)
    return result + bias[:, None]


BINDINGS: dict[str, Binding] = {
    **serving(jnp, "jax.numpy", nn.softmax, nn.log_softmax),
    "variable_length_attention": composition(
        variable_length_attention,
        derive={"sequences": sequence_of_each},
        note="jax.nn.dot_product_attention with a mask of equal sequences, whose numbers are precomputed",
    ),
    **compositions(
        paged_attention=(
            paged_attention,
            "jax.numpy.take of pages, and jax.nn.dot_product_attention with `key_value_seq_lengths`",
        ),
        sliding_window_attention=(
            sliding_window_attention,
            "jax.nn.dot_product_attention with `local_window_size`, between transposes of heads and length",
        ),
        cache_append=(
            cache_append,
            "jax.lax.dynamic_update_slice_in_dim into a new array: nothing is donated",
        ),
        repetition_penalty=(repetition_penalty, "jax.numpy.take_along_axis, jax.numpy.where and `logits.at[].set`"),
    ),
    # Products of numbers in four and eight bits.
    **quantized(jnp, "jax.numpy"),
    **compositions(
        float8_matmul=(float8_matmul, "jax.numpy.matmul with `preferred_element_type`, and a product"),
        block_quantize_float8=(
            block_quantize_float8,
            "jax.numpy.abs, max, frexp and exp2, a quotient, jax.numpy.clip and a conversion",
        ),
    ),
    # Selective state spaces.
    **states(jnp, "jax.numpy", True),
    **compositions(
        selective_scan=(selective_scan, "jax.lax.scan of jax.numpy.exp, products, sums and jax.numpy.matmul"),
        causal_conv1d=(causal_conv1d, "jax.lax.conv_general_dilated with as many groups as channels, and a sum"),
    ),
}
