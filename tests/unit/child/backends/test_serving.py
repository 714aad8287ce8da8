"""What serving needs, in NumPy, which all frameworks are held against: by other formulas than its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from opperf.child.backends.binding import Call, bindings

DRAW = np.random.default_rng(7)


def compute(name: str, *arguments: Any) -> Any:
    """Return the result of NumPy's binding."""
    binding = bindings("numpy")[name]
    assert isinstance(binding, Call)
    assert binding.function is not None
    return binding.function(*arguments)


def drawn(*shape: int) -> Any:
    return DRAW.uniform(-1, 1, shape)


def softmax(scores: Any) -> Any:
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True)


def attend(query: Any, keys: Any, values: Any) -> Any:
    """Return the attention of one query of a head."""
    return softmax(keys @ query * len(query) ** -0.5) @ values


def test_pages_are_read_in_the_order_of_the_table_and_as_far_as_a_sequence_is_long() -> None:
    query, keys, values = drawn(2, 4, 8), drawn(6, 3, 2, 8), drawn(6, 3, 2, 8)
    table, lengths = np.array([[4, 0], [2, 5]]), np.array([5, 2])
    result = compute("paged_attention", query, keys, values, table, lengths)
    for i in range(2):
        rows = [np.concatenate([cache[page] for page in table[i]])[: lengths[i]] for cache in (keys, values)]
        for head in range(4):  # two heads share a key
            expected = attend(query[i, head], rows[0][:, head // 2], rows[1][:, head // 2])
            assert result[i, head] == pytest.approx(expected)


def test_sequences_in_a_row_do_not_see_each_other_nor_the_future() -> None:
    query, keys, values = drawn(5, 4, 4), drawn(5, 2, 4), drawn(5, 2, 4)
    result = compute("variable_length_attention", query, keys, values, (2, 3))
    for token, start in enumerate((0, 0, 2, 2, 2)):
        for head in range(4):  # two heads share a key
            rows = slice(start, token + 1), head // 2
            assert result[token, head] == pytest.approx(attend(query[token, head], keys[rows], values[rows]))


def test_a_window_ends_at_the_query_itself() -> None:
    query, keys, values = drawn(1, 1, 6, 4), drawn(1, 1, 6, 4), drawn(1, 1, 6, 4)
    result = compute("sliding_window_attention", query, keys, values, 3)
    for token in range(6):
        seen = slice(max(0, token - 2), token + 1)
        assert result[0, 0, token] == pytest.approx(attend(query[0, 0, token], keys[0, 0, seen], values[0, 0, seen]))


def test_absorbed_projections_give_the_attention_of_keys_and_values_made_of_the_latent() -> None:
    query, turned, latent, key_turned = drawn(2, 3, 4), drawn(2, 3, 2), drawn(2, 5, 6), drawn(2, 5, 2)
    key_weight, value_weight = drawn(3, 4, 6), drawn(3, 6, 7)
    result = compute("multi_head_latent_attention", query, turned, latent, key_turned, key_weight, value_weight)
    for i in range(2):
        for head in range(3):
            keys = np.concatenate([latent[i] @ key_weight[head].T, key_turned[i]], axis=1)
            whole = np.concatenate([query[i, head], turned[i, head]])
            assert result[i, head] == pytest.approx(attend(whole, keys, latent[i] @ value_weight[head]))


def test_a_draw_picks_among_the_tokens_that_have_the_share_together() -> None:
    shares = np.array([[0.15, 0.5, 0.05, 0.3]])
    tokens = [
        compute("top_p_sampling", np.log(shares), np.array([draw]), p)[0]
        for draw, p in ((0.0, 0.7), (0.62, 0.7), (0.63, 0.7), (0.99, 0.7), (0.99, 0.4), (0.99, 0.9), (0.999, 1.0))
    ]
    # Of 0.7 the two largest, 0.8 together: the first has 0.625 of them.
    assert tokens == [1, 1, 3, 3, 1, 0, 2]


def test_a_token_that_was_there_twice_is_penalized_once() -> None:
    logits = np.array([[1.0, -2.0, 3.0, 4.0]])
    result = compute("repetition_penalty", logits, np.array([[0, 1, 0]]), 2.0)
    assert result.tolist() == [[0.5, -4.0, 3.0, 4.0]]
    assert logits.tolist() == [[1.0, -2.0, 3.0, 4.0]]


def test_the_last_layer_loses_what_its_labels_are_unlikely() -> None:
    data, weight, labels = drawn(3, 4), drawn(5, 4), np.array([4, 0, 2])
    unlikely = [-np.log(softmax(row @ weight.T)[label]) for row, label in zip(data, labels)]
    assert compute("linear_cross_entropy", data, weight, labels) == pytest.approx(np.mean(unlikely))


def test_queries_and_keys_keep_their_length_when_they_are_turned() -> None:
    query, key, ones = drawn(1, 2, 3, 4), drawn(1, 1, 3, 4), np.ones(4)
    angles = np.tile(np.arange(3)[:, np.newaxis] * np.array([0.5, 0.1]), 2)
    results = compute("rotary_qk_norm", query, key, ones, ones, np.cos(angles), np.sin(angles), 0.0)
    for result, data in zip(results, (query, key)):
        assert np.square(result).sum(-1) == pytest.approx(np.full(data.shape[:-1], 4.0))  # mean squares of one
        first = data[:, :, 0] / np.sqrt(np.square(data[:, :, 0]).mean(-1, keepdims=True))
        assert result[:, :, 0] == pytest.approx(first)  # turned by no angle


def test_the_lower_half_of_a_byte_is_the_first_number() -> None:
    weight = np.array([[0xF8, 0x07]], np.uint8)  # 8 - 8, 15 - 8; 7 - 8, 0 - 8
    result = compute("int4_matmul", np.eye(4), weight, np.array([[1.0, 0.5]]))
    assert result[:, 0].tolist() == [0.0, 7.0, -0.5, -4.0]


def test_a_row_of_a_weight_has_its_own_scale() -> None:
    weight = np.array([[1, -2], [100, 3]], np.int8)
    result = compute("int8_weight_matmul", np.eye(2), weight, np.array([0.5, 0.1]))
    assert result == pytest.approx(np.array([[0.5, 10.0], [-1.0, 0.3]]))


def test_blocks_are_quantized_within_half_a_step_and_multiplied_as_such() -> None:
    data, other = drawn(3, 8), drawn(2, 8)
    (numbers, scale), (others, other_scale) = (compute("block_quantize", one, 4) for one in (data, other))
    assert np.abs(numbers.reshape(3, 2, 4)).max(-1).tolist() == [[127, 127]] * 3
    real, real_other = numbers * np.repeat(scale, 4, 1), others * np.repeat(other_scale, 4, 1)
    assert (np.abs(real - data) <= np.repeat(scale, 4, 1) / 2 * (1 + 1e-12)).all()
    result = compute("block_scaled_matmul", numbers, others, scale, other_scale)
    assert result == pytest.approx(real @ real_other.T)
    assert compute("block_quantize", np.zeros((1, 4)), 4)[0].tolist() == [[0, 0, 0, 0]]


def test_a_scan_is_its_steps_one_after_the_other() -> None:
    data, step, skip, decay = drawn(2, 4, 3), DRAW.uniform(0.1, 0.5, (2, 4, 3)), drawn(3), -DRAW.uniform(0.1, 1, (3, 5))
    weights = drawn(2, 4, 5), drawn(2, 4, 5)
    result = compute("selective_scan", data, step, decay, *weights, skip)
    state = np.zeros((2, 3, 5))
    for i in range(4):
        row = compute(
            "selective_state_update", state, data[:, i], step[:, i], decay, *(one[:, i] for one in weights), skip
        )
        assert result[:, i] == pytest.approx(row)
    alone = step[:, 0] * data[:, 0] * (weights[0][:, 0] * weights[1][:, 0]).sum(-1, keepdims=True)
    assert result[:, 0] == pytest.approx(alone + skip * data[:, 0])  # the first step decays nothing


def test_a_short_convolution_sees_the_past_alone() -> None:
    data, weight, bias = drawn(1, 2, 5), drawn(2, 3), drawn(2)
    result = compute("causal_conv1d", data, weight, bias)
    for channel in range(2):
        whole = np.convolve(data[0, channel], weight[channel, ::-1])[:5] + bias[channel]
        assert result[0, channel] == pytest.approx(whole)


def test_an_update_goes_into_its_place_of_the_cache() -> None:
    cache, update = drawn(1, 2, 6, 3), drawn(1, 2, 2, 3)
    before = cache.copy()
    result = compute("cache_append", cache, update, 3)
    assert result is cache
    assert (cache[:, :, 3:5] == update).all()
    assert (np.delete(cache, [3, 4], 2) == np.delete(before, [3, 4], 2)).all()
