"""Attention, and layers of experts in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx
import numpy

from opperf.child.backends.binding import Binding
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, composition, extent

# Attention, composed: MXNet's fused ones take interleaved projections, not queries, keys and values.


def scaled_dot_product_attention(F: Any, query: Any, key: Any, value: Any, *mask: Any, scale: float) -> Any:
    """Weigh the values; a mask is added to the scores."""
    scores = F.linalg.gemm2(query, key, transpose_b=True, alpha=scale)
    if mask:
        scores = F.broadcast_add(scores, mask[0])
    return F.linalg.gemm2(F.softmax(scores, axis=-1), value)


def grouped_query_attention(F: Any, query: Any, key: Any, value: Any, *mask: Any, scale: float, shared: int) -> Any:
    heads_in_batch = F.reshape(query, shape=(0, shared, -1, 0), reverse=True)
    result = scaled_dot_product_attention(F, heads_in_batch, key, value, *mask, scale=scale)
    return F.reshape_like(result, query)


def multi_head_attention(
    F: Any, data: Any, weight: Any, bias: Any, output_weight: Any, output_bias: Any, *, heads: int, width: int
) -> Any:
    projected = F.FullyConnected(data, weight, bias, num_hidden=3 * width, flatten=False)
    triple = F.transpose(F.reshape(projected, shape=(0, 0, 3, heads, -1)), axes=(2, 0, 3, 1, 4))
    query, key, value = F.split(triple, num_outputs=3, axis=0, squeeze_axis=True)
    result = scaled_dot_product_attention(F, query, key, value, scale=(width // heads) ** -0.5)
    context = F.reshape(F.transpose(result, axes=(0, 2, 1, 3)), shape=(0, 0, -3))
    return F.FullyConnected(context, output_weight, output_bias, num_hidden=width, flatten=False)


def rotary_embedding(F: Any, data: Any, cosine: Any, sine: Any) -> Any:
    first, second = F.split(data, num_outputs=2, axis=-1)
    halves = F.concat(F.negative(second), first, dim=-1)
    return F.broadcast_mul(data, cosine) + F.broadcast_mul(halves, sine)


def _mask(query: Any, keys: int, repeats: int = 1) -> Any:
    """Return minus infinity where a key is later than the query, once for each head that is joined."""
    future = numpy.tile(numpy.triu(numpy.full((query.shape[-2], keys), -numpy.inf), 1), (repeats, 1))
    mask = future.reshape((1,) * (query.ndim - 2) + future.shape)
    return mx.nd.array(mask, ctx=query.context, dtype=query.dtype)


def _attention(query: Any, key: Any, value: Any, causal: bool = False) -> CallSpec:
    arrays = [query, key, value]
    if causal:
        arrays.append(_mask(query, key.shape[-2]))
    return Composition(scaled_dot_product_attention), tuple(arrays), {"scale": query.shape[-1] ** -0.5}


def _group(query: Any, key: Any, value: Any, causal: bool = False) -> CallSpec:
    arrays, heads, shared = [query, key, value], query.shape[1], key.shape[1]
    if causal:
        arrays.append(_mask(query, key.shape[-2], heads // shared))
    return Composition(grouped_query_attention), tuple(arrays), {"scale": query.shape[-1] ** -0.5, "shared": shared}


def over_heads(angles: Any) -> Any:
    """Return angles in the shape in which they stand beside heads."""
    return angles.reshape((1, 1, *angles.shape))


# Layers of experts in MXNet.


def grouped_matmul(F: Any, data: Any, weight: Any, *, shape: tuple[int, ...]) -> Any:
    return F.reshape(F.batch_dot(F.reshape(data, shape=shape), weight), shape=(-3, 0))


def moe_gather(F: Any, data: Any, experts: Any, places: Any, *, slots: int, each: int) -> Any:
    """Sort by expert and then by place, which `nd.argsort` does not do by itself, and take the rows."""
    order = F.argsort(F.reshape(experts, shape=(-1,)) * slots + places, dtype="int64")
    return F.take(data, F.floor(F.cast(order, dtype="float64") / each))


def moe_scatter(F: Any, data: Any, points: Any, weights: Any, *, shape: tuple[int, ...]) -> Any:
    """Weigh the rows and sum them at their points, as the gradient of a gather does."""
    return F._internal._backward_gather_nd(
        F.broadcast_mul(data, F.reshape(weights, shape=(-1, 1))), points, shape=shape
    )


def top_k_routing(F: Any, logits: Any, *, k: int) -> Any:
    weights, experts = F.topk(F.softmax(logits, axis=-1), k=k, axis=-1, ret_typ="both", dtype="int64")
    return F.broadcast_div(weights, F.sum(weights, axis=-1, keepdims=True)), experts


def _grouped_matmul(data: Any, weight: Any) -> CallSpec:
    return Composition(grouped_matmul), (data, weight), {"shape": (weight.shape[0], -1, weight.shape[1])}


def _moe_gather(data: Any, experts: Any) -> CallSpec:
    slots = experts.size
    places = mx.nd.array(numpy.arange(slots), ctx=data.context, dtype=experts.dtype)
    return Composition(moe_gather), (data, experts, places), {"slots": slots, "each": experts.shape[1]}


def _moe_scatter(data: Any, tokens: Any, weights: Any, count: int) -> CallSpec:
    arrays = (data, tokens.reshape((1, -1)), weights)
    return Composition(moe_scatter), arrays, {"shape": (count, data.shape[1])}


BINDINGS: dict[str, Binding] = {
    "scaled_dot_product_attention": composition(
        scaled_dot_product_attention,
        note="nd.linalg.gemm2, nd.softmax and nd.linalg.gemm2; the precomputed causal mask is added",
        settle=_attention,
    ),
    "causal_attention": composition(
        scaled_dot_product_attention,
        "query, key, value, True",
        note="nd.linalg.gemm2, a sum with a precomputed mask, nd.softmax and nd.linalg.gemm2",
        settle=_attention,
    ),
    "grouped_query_attention": composition(
        grouped_query_attention,
        note="nd.linalg.gemm2, nd.softmax and nd.linalg.gemm2 between nd.reshape; a causal mask is added",
        settle=_group,
    ),
    "multi_head_attention": composition(
        multi_head_attention,
        "data, weight, bias, output_weight, output_bias",
        "heads=heads, width=width",
        derive={"width": extent("data", -1)},
        note="nd.FullyConnected, nd.linalg.gemm2, nd.softmax, nd.linalg.gemm2 and nd.FullyConnected",
    ),
    "rotary_embedding": composition(
        rotary_embedding,
        adapt={"cosine": over_heads, "sine": over_heads},
        note="nd.split, nd.concat of the exchanged halves, nd.broadcast_mul twice and a sum",
    ),
    "grouped_matmul": composition(grouped_matmul, note="nd.batch_dot between nd.reshape", settle=_grouped_matmul),
    "moe_gather": composition(
        moe_gather,
        note="a product and a sum make keys, nd.argsort sorts them; nd.cast, a division, nd.floor and nd.take",
        settle=_moe_gather,
    ),
    "moe_scatter": composition(
        moe_scatter,
        note="nd.reshape, nd.broadcast_mul, and nd._internal._backward_gather_nd, which sums rows at points",
        settle=_moe_scatter,
    ),
    "top_k_routing": composition(top_k_routing, note="nd.softmax, nd.topk, nd.sum and nd.broadcast_div"),
}
