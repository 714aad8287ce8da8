"""What language models need when they serve, as far as it was written before MXNet was retired."""

from __future__ import annotations

from typing import Any

import mxnet as mx
import numpy

from opperf.child.backends.arrays.compositions import WRITES
from opperf.child.backends.binding import Binding, gaps
from opperf.child.backends.mxnet.operators.attention import (
    over_heads,
    rotary_embedding,
    scaled_dot_product_attention,
)
from opperf.child.backends.mxnet.operators.training import cross_entropy
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, composition, extent

RETIRED = "MXNet was retired before models were served with it: nobody writes it there"


def sliding_window_attention(F: Any, query: Any, key: Any, value: Any, mask: Any, *, scale: float) -> Any:
    return scaled_dot_product_attention(F, query, key, value, mask, scale=scale)


def prepare(F: Any, data: Any, weight: Any, cosine: Any, sine: Any, epsilon: float) -> Any:
    """Normalize and turn."""
    squares = F.mean(F.square(data), axis=-1, keepdims=True)
    along_last = F.reshape(weight, shape=(1, 1, 1, -1))
    normal = F.broadcast_mul(F.broadcast_mul(data, F.rsqrt(squares + epsilon)), along_last)
    return rotary_embedding(F, normal, cosine, sine)


def rotary_qk_norm(
    F: Any, query: Any, key: Any, query_weight: Any, key_weight: Any, cosine: Any, sine: Any, *, epsilon: float
) -> Any:
    return (
        prepare(F, query, query_weight, cosine, sine, epsilon),
        prepare(F, key, key_weight, cosine, sine, epsilon),
    )


def linear_cross_entropy(F: Any, data: Any, weight: Any, labels: Any, *, classes: int) -> Any:
    """Project, and take the mean loss, without dimensions as the functions with NumPy's names return it."""
    return cross_entropy(F, F.npx.fully_connected(data, weight, num_hidden=classes, no_bias=True), labels)


def _window(query: Any, key: Any, value: Any, window: int) -> CallSpec:
    ones = numpy.ones((query.shape[-2], key.shape[-2]), bool)
    mask = numpy.where(numpy.tril(ones) & numpy.triu(ones, 1 - window), 0.0, -numpy.inf)
    array = mx.nd.array(mask[(numpy.newaxis,) * (query.ndim - 2)], ctx=query.context, dtype=query.dtype)
    return Composition(sliding_window_attention), (query, key, value, array), {"scale": query.shape[-1] ** -0.5}


def int8_weight_matmul(F: Any, data: Any, weight: Any, scale: Any, *, dtype: str, columns: int) -> Any:
    """Multiply with the weight as real numbers, and scale."""
    product = F.FullyConnected(data, F.cast(weight, dtype=dtype), num_hidden=columns, no_bias=True)
    return F.broadcast_mul(product, F.expand_dims(scale, axis=0))


def _product(data: Any, weight: Any, scale: Any) -> CallSpec:
    keywords = {"dtype": data.dtype.__name__, "columns": weight.shape[0]}
    return Composition(int8_weight_matmul), (data, weight, scale), keywords


def causal_conv1d(F: Any, data: Any, weight: Any, bias: Any, *, channels: int, width: int, length: int) -> Any:
    kernels = F.expand_dims(weight, axis=1)
    result = F.Convolution(
        data, kernels, bias, kernel=(width,), pad=(width - 1,), num_filter=channels, num_group=channels
    )
    return F.slice_axis(result, axis=2, begin=0, end=length)


BINDINGS: dict[str, Binding] = {
    "sliding_window_attention": composition(
        sliding_window_attention,
        "query, key, value, window",
        note="nd.linalg.gemm2, a sum with a precomputed mask, nd.softmax and nd.linalg.gemm2",
        settle=_window,
    ),
    "cache_append": WRITES["cache_append"],
    "rotary_qk_norm": composition(
        rotary_qk_norm,
        "query, key, query_weight, key_weight, cosine, sine",
        "epsilon=epsilon",
        adapt={"cosine": over_heads, "sine": over_heads},
        note="nd.square, nd.mean, nd.rsqrt, products, sums, nd.split and nd.concat, of both",
    ),
    "linear_cross_entropy": composition(
        linear_cross_entropy,
        "data, weight, labels",
        "classes=classes",
        derive={"classes": extent("weight", 0)},
        note="npx.fully_connected, npx.log_softmax, npx.pick and np.mean",
        numpy=True,
    ),
    **gaps(
        RETIRED,
        "paged_attention variable_length_attention multi_head_latent_attention top_p_sampling repetition_penalty",
    ),
    # Products of numbers in four and eight bits.
    "int8_weight_matmul": composition(
        int8_weight_matmul,
        "data, weight, scale",
        note="nd.cast, nd.FullyConnected and nd.broadcast_mul",
        settle=_product,
    ),
    **gaps("MXNet 1.9 has no floating type of eight bits", "float8_matmul block_quantize_float8"),
    **gaps("MXNet 1.9 has no shifts of bits", "int4_matmul"),
    **gaps("MXNet's eight bits have one scale for a whole tensor", "block_quantize block_scaled_matmul"),
    # Selective state spaces.
    "causal_conv1d": composition(
        causal_conv1d,
        "data, weight, bias",
        "channels=channels, width=width, length=length",
        derive={"channels": extent("weight", 0), "width": extent("weight", 1), "length": extent("data", 2)},
        note="nd.Convolution with as many groups as channels, and nd.slice_axis",
    ),
    **gaps(
        "MXNet was retired before there were selective state spaces: nobody writes them there",
        "selective_scan selective_state_update",
    ),
}
