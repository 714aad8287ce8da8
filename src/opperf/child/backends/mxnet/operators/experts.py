"""Layers of experts in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx
import numpy

from opperf.child.backends.call import Binding
from opperf.child.backends.mxnet.spelling import Composition, Settled, composed


def grouped_matmul(F: Any, data: Any, weight: Any, *, shape: tuple[int, ...]) -> Any:
    """Multiply each group of rows with its matrix."""
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
    """Take the greatest weights and scale them to a sum of one."""
    weights, experts = F.topk(F.softmax(logits, axis=-1), k=k, axis=-1, ret_typ="both", dtype="int64")
    return F.broadcast_div(weights, F.sum(weights, axis=-1, keepdims=True)), experts


def _grouped_matmul(data: Any, weight: Any) -> Settled:
    return Composition(grouped_matmul), (data, weight), {"shape": (weight.shape[0], -1, weight.shape[1])}


def _moe_gather(data: Any, experts: Any) -> Settled:
    slots = experts.size
    places = mx.nd.array(numpy.arange(slots), ctx=data.context, dtype=experts.dtype)
    return Composition(moe_gather), (data, experts, places), {"slots": slots, "each": experts.shape[1]}


def _moe_scatter(data: Any, tokens: Any, weights: Any, count: int) -> Settled:
    arrays = (data, tokens.reshape((1, -1)), weights)
    return Composition(moe_scatter), arrays, {"shape": (count, data.shape[1])}


BINDINGS: dict[str, Binding] = {
    "grouped_matmul": composed(
        grouped_matmul, "data, weight", note="nd.batch_dot between nd.reshape", settle=_grouped_matmul
    ),
    "moe_gather": composed(
        moe_gather,
        "data, experts",
        note="a product and a sum make keys, nd.argsort sorts them; nd.cast, a division, nd.floor and nd.take",
        settle=_moe_gather,
    ),
    "moe_scatter": composed(
        moe_scatter,
        "data, tokens, weights, count",
        note="nd.reshape, nd.broadcast_mul, and nd._internal._backward_gather_nd, which sums rows at points",
        settle=_moe_scatter,
    ),
    "top_k_routing": composed(top_k_routing, "logits", "k=k", note="nd.softmax, nd.topk, nd.sum and nd.broadcast_div"),
}
