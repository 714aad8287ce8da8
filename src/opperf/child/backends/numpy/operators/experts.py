"""Layers of experts, written in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, composed
from opperf.child.backends.numpy.operators.softmax import softmax


def grouped_matmul(data: Any, weight: Any) -> Any:
    """Return each group of rows times its matrix."""
    return np.matmul(data.reshape(weight.shape[0], -1, weight.shape[1]), weight).reshape(data.shape[0], -1)


def moe_gather(data: Any, experts: Any) -> Any:
    """Return the rows of tokens, sorted by expert."""
    return np.take(data, np.argsort(experts, axis=None, kind="stable") // experts.shape[1], axis=0)


def moe_scatter(data: Any, tokens: Any, weights: Any, count: int) -> Any:
    """Return the weighted rows, summed at the places of their tokens."""
    result = np.zeros((count, data.shape[1]), data.dtype)
    np.add.at(result, tokens, data * weights[:, np.newaxis])
    return result


def top_k_routing(logits: Any, k: int) -> Any:
    """Return the greatest weights, which add to one, and whose they are; NumPy sorts all of them."""
    scores = softmax(logits, -1)
    experts = np.argsort(-scores, axis=-1)[..., :k]
    weights = np.take_along_axis(scores, experts, axis=-1)
    return weights / np.sum(weights, axis=-1, keepdims=True), experts


BINDINGS: dict[str, Binding] = {
    "grouped_matmul": composed(grouped_matmul, "data, weight", note="numpy.matmul between views"),
    "moe_gather": composed(moe_gather, "data, experts", note="numpy.argsort, numpy.floor_divide and numpy.take"),
    "moe_scatter": composed(
        moe_scatter, "data, tokens, weights, count", note="numpy.zeros, numpy.multiply and numpy.add.at"
    ),
    "top_k_routing": composed(
        top_k_routing,
        "logits, k",
        note="a softmax of four functions, numpy.argsort, numpy.take_along_axis, numpy.sum and numpy.divide",
    ),
}
