"""What language models need when they serve, products of few bits and state spaces, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.compositions import WRITES
from opperf.child.backends.arrays.serving import quantized, serving, states
from opperf.child.backends.binding import Binding, compositions, gaps
from opperf.child.backends.numpy.operators.attention import scaled_dot_product_attention
from opperf.child.backends.numpy.operators.normalization import log_softmax, softmax


def paged_attention(query: Any, key_cache: Any, value_cache: Any, page_table: Any, lengths: Any) -> Any:
    """Return the attention to the pages that belong to each sequence; heads that share a key stand together."""
    batch, heads, width = query.shape
    keys, values = (np.take(cache, page_table, axis=0) for cache in (key_cache, value_cache))
    keys, values = (rows.reshape(batch, -1, *rows.shape[3:]).transpose(0, 2, 1, 3) for rows in (keys, values))
    grouped = (query * width**-0.5).reshape(batch, keys.shape[1], -1, width)
    scores = np.matmul(grouped, np.swapaxes(keys, -1, -2))
    within = np.arange(keys.shape[2]) < lengths[:, np.newaxis]
    scores = np.where(within[:, np.newaxis, np.newaxis], scores, -np.inf)
    return np.matmul(softmax(scores, -1), values).reshape(batch, heads, -1)


def variable_length_attention(query: Any, key: Any, value: Any, lengths: tuple[int, ...]) -> Any:
    """Return the attention of one sequence after the other; heads that share a key stand together."""
    results, start = [], 0
    if key.shape[1] != query.shape[1]:
        key, value = (np.repeat(tensor, query.shape[1] // tensor.shape[1], axis=1) for tensor in (key, value))
    for length in lengths:
        rows, keys, values = (tensor[start : start + length].swapaxes(0, 1) for tensor in (query, key, value))
        results.append(scaled_dot_product_attention(rows, keys, values, True).swapaxes(0, 1))
        start += length
    return np.concatenate(results)


def sliding_window_attention(query: Any, key: Any, value: Any, window: int) -> Any:
    length = query.shape[-2]
    within = np.tri(length, dtype=np.bool_) & ~np.tri(length, k=-window, dtype=np.bool_)
    scores = np.matmul(query * query.shape[-1] ** -0.5, np.swapaxes(key, -1, -2))
    return np.matmul(softmax(np.where(within, scores, -np.inf), -1), value)


def repetition_penalty(logits: Any, tokens: Any, penalty: float) -> Any:
    scores = np.take_along_axis(logits, tokens, axis=-1)
    result = logits.copy()
    np.put_along_axis(result, tokens, np.where(scores < 0, scores * penalty, scores / penalty), axis=-1)
    return result


def selective_scan(data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any) -> Any:
    decays = np.exp(step[..., np.newaxis] * decay)
    inputs = (step * data)[..., np.newaxis] * input_weight[:, :, np.newaxis]
    state, results = np.zeros_like(inputs[:, 0]), np.empty_like(data)
    for i in range(data.shape[1]):
        state = decays[:, i] * state + inputs[:, i]
        results[:, i] = np.matmul(state, output_weight[:, i, :, np.newaxis])[..., 0]
    return results + skip * data


def causal_conv1d(data: Any, weight: Any, bias: Any) -> Any:
    """Return the sum of the weighed data, shifted by as many places as each weight lies in the past."""
    length, width = data.shape[-1], weight.shape[-1]
    wide = np.pad(data, ((0, 0), (0, 0), (width - 1, 0)))
    result = wide[..., :length] * weight[:, :1] + bias[:, np.newaxis]
    for i in range(1, width):
        result += wide[..., i : i + length] * weight[:, i : i + 1]
    return result


BINDINGS: dict[str, Binding] = {
    **serving(np, "numpy", softmax, log_softmax),
    "cache_append": WRITES["cache_append"],
    **compositions(
        paged_attention=(
            paged_attention,
            "numpy.take of pages, numpy.matmul twice, numpy.where, and a softmax of four functions",
        ),
        variable_length_attention=(
            variable_length_attention,
            "for each sequence numpy.matmul twice, numpy.where and a softmax; numpy.concatenate",
        ),
        sliding_window_attention=(
            sliding_window_attention,
            "numpy.tri twice, numpy.matmul twice, numpy.where, and a softmax of four functions",
        ),
        repetition_penalty=(repetition_penalty, "numpy.take_along_axis, numpy.where and numpy.put_along_axis"),
    ),
    # Products of numbers in four and eight bits.
    **quantized(np, "numpy"),
    **gaps("NumPy has no floating type of eight bits", "float8_matmul block_quantize_float8"),
    # Selective state spaces.
    **states(np, "numpy", False),
    **compositions(
        selective_scan=(selective_scan, "numpy.exp and products; for each step a product, a sum and numpy.matmul"),
        causal_conv1d=(causal_conv1d, "numpy.pad, and a product and a sum for each weight"),
    ),
}
