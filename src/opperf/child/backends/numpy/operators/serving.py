"""What serving a language model needs, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.serving import serving
from opperf.child.backends.binding import Binding, compositions
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
    """Return the attention to the last keys."""
    length = query.shape[-2]
    within = np.tri(length, dtype=np.bool_) & ~np.tri(length, k=-window, dtype=np.bool_)
    scores = np.matmul(query * query.shape[-1] ** -0.5, np.swapaxes(key, -1, -2))
    return np.matmul(softmax(np.where(within, scores, -np.inf), -1), value)


def cache_append(cache: Any, update: Any, position: int) -> Any:
    """Write the update into its place."""
    cache[:, :, position : position + update.shape[2]] = update
    return cache


def repetition_penalty(logits: Any, tokens: Any, penalty: float) -> Any:
    """Return a copy in which tokens that were there are less likely."""
    scores = np.take_along_axis(logits, tokens, axis=-1)
    result = logits.copy()
    np.put_along_axis(result, tokens, np.where(scores < 0, scores * penalty, scores / penalty), axis=-1)
    return result


BINDINGS: dict[str, Binding] = {
    **serving(np, "numpy", softmax, log_softmax),
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
        cache_append=(cache_append, "`cache[:, :, position : position + n] = update`"),
        repetition_penalty=(repetition_penalty, "numpy.take_along_axis, numpy.where and numpy.put_along_axis"),
    ),
}
