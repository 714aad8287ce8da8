"""What models need when they serve, and state spaces, of functions that NumPy and JAX have by the same names.

As in `compositions.py`, `np` has the functions, and `place` is how users call it, in the notes on records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opperf.child.backends.binding import Binding, compositions

#: The smallest scale of a block: of a block of zeros it is not 0, which nothing could be divided by.
LEAST_SCALE = 1e-12
#: The largest whole number of eight bits, of either sign.
MOST_INT8 = 127
#: The largest float8_e4m3fn; its exponent, counted as `frexp` counts, of numbers from one half to one.
MOST_FLOAT8, EXPONENT = 448.0, 9


def serving(np: Any, place: str, softmax: Callable[..., Any], log_softmax: Callable[..., Any]) -> dict[str, Binding]:
    """Bind attention over a latent, the preparation of queries and keys, sampling, and the fused last layer."""

    def latent_attention(
        query: Any, query_turned: Any, latent: Any, key_turned: Any, key_weight: Any, value_weight: Any
    ) -> Any:
        """Return the attention of one query a head; keys and values are never made of the latent."""
        scale = (query.shape[-1] + query_turned.shape[-1]) ** -0.5
        absorbed = np.swapaxes(np.matmul(np.swapaxes(query, 0, 1), key_weight), 0, 1)
        scores = np.matmul(absorbed, np.swapaxes(latent, 1, 2)) + np.matmul(query_turned, np.swapaxes(key_turned, 1, 2))
        context = np.matmul(softmax(scores * scale, -1), latent)
        return np.swapaxes(np.matmul(np.swapaxes(context, 0, 1), value_weight), 0, 1)

    def prepare(data: Any, weight: Any, cosine: Any, sine: Any, epsilon: float) -> Any:
        normal = data / np.sqrt(np.mean(np.square(data), axis=-1, keepdims=True) + epsilon) * weight
        first, second = np.split(normal, 2, axis=-1)
        return normal * cosine + np.concatenate((-second, first), axis=-1) * sine

    def rotary_qk_norm(
        query: Any, key: Any, query_weight: Any, key_weight: Any, cosine: Any, sine: Any, epsilon: float
    ) -> Any:
        return prepare(query, query_weight, cosine, sine, epsilon), prepare(key, key_weight, cosine, sine, epsilon)

    def top_p_sampling(logits: Any, draws: Any, p: float) -> Any:
        """Return the token whose share of what the likely ones have together a draw falls into."""
        shares = softmax(logits, -1)
        order = np.argsort(-shares, axis=-1)
        shares = np.take_along_axis(shares, order, axis=-1)
        totals = np.cumsum(shares, axis=-1)
        whole = np.max(np.where(totals - shares < p, totals, 0), axis=-1)
        places = np.sum(totals <= (draws * whole)[:, None], axis=-1)
        return np.take_along_axis(order, places[:, None], axis=-1)[:, 0]

    def linear_cross_entropy(data: Any, weight: Any, labels: Any) -> Any:
        scores = log_softmax(np.matmul(data, np.transpose(weight)), -1)
        return -np.mean(np.take_along_axis(scores, labels[:, None], axis=-1))

    return compositions(
        multi_head_latent_attention=(latent_attention, f"five {place}.matmul around a softmax, {place}.swapaxes"),
        rotary_qk_norm=(
            rotary_qk_norm,
            f"{place}.square, {place}.mean, {place}.sqrt, products, and {place}.concatenate of the exchanged halves",
        ),
        top_p_sampling=(
            top_p_sampling,
            f"a softmax, {place}.argsort, {place}.take_along_axis, {place}.cumsum, comparisons and sums",
        ),
        linear_cross_entropy=(
            linear_cross_entropy,
            f"{place}.matmul, a log-softmax, {place}.take_along_axis and {place}.mean",
        ),
    )


def quantized(np: Any, place: str) -> dict[str, Binding]:
    """Bind products of whole numbers with scales: they are made real numbers, and multiplied as such."""

    def int8_weight_matmul(data: Any, weight: Any, scale: Any) -> Any:
        return np.matmul(data, np.transpose(weight).astype(data.dtype)) * scale

    def int4_matmul(data: Any, weight: Any, scale: Any) -> Any:
        """Return the product with two numbers of each byte, the lower four bits first."""
        numbers = np.stack((weight & 15, weight >> 4), axis=-1).astype(data.dtype) - 8
        blocks = numbers.reshape(*scale.shape, -1) * scale[..., None]
        return np.matmul(data, np.transpose(blocks.reshape(weight.shape[0], -1)))

    def block_quantize(data: Any, block: int) -> Any:
        blocks = data.reshape(*data.shape[:-1], -1, block)
        scale = np.maximum(np.max(np.abs(blocks), axis=-1) / MOST_INT8, LEAST_SCALE)
        return np.round(blocks / scale[..., None]).astype(np.int8).reshape(data.shape), scale

    def dequantize(data: Any, scale: Any) -> Any:
        return (data.reshape(*scale.shape, -1).astype(scale.dtype) * scale[..., None]).reshape(data.shape)

    def block_scaled_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
        return np.matmul(dequantize(lhs, lhs_scale), np.transpose(dequantize(rhs, rhs_scale)))

    return compositions(
        int8_weight_matmul=(int8_weight_matmul, f"a conversion, {place}.matmul and a product"),
        int4_matmul=(int4_matmul, f"bits of bytes, {place}.stack, a conversion, a product and {place}.matmul"),
        block_quantize=(block_quantize, f"{place}.abs, {place}.max, a quotient, {place}.round and a conversion"),
        block_scaled_matmul=(block_scaled_matmul, f"two conversions and products, then {place}.matmul"),
    )


def states(np: Any, place: str, immutable: bool) -> dict[str, Binding]:
    """Bind one step of a selective scan, which returns the state too where arrays are `immutable`."""

    def selective_state_update(
        state: Any, data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any
    ) -> Any:
        """Change the state in place where it can change, and make a new one of the same name where it cannot."""
        state *= np.exp(step[..., None] * decay)
        state += (step * data)[..., None] * input_weight[:, None]
        result = np.matmul(state, output_weight[..., None])[..., 0] + skip * data
        return (result, state) if immutable else result

    into = "into a new state" if immutable else "in place"
    return compositions(
        selective_state_update=(selective_state_update, f"{place}.exp, products and sums {into}, and {place}.matmul"),
    )
