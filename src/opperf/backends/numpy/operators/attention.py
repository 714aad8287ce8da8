"""Attention, written in NumPy as two products and a softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.backends.call import Binding, composed
from opperf.backends.numpy.operators.softmax import softmax


def scaled_dot_product_attention(query: Any, key: Any, value: Any, causal: bool | None) -> Any:
    """Return the values weighed by the softmax of scaled query-key products; `causal` hides later keys."""
    scores = np.matmul(query * query.shape[-1] ** -0.5, np.swapaxes(key, -1, -2))
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=np.bool_), scores, -np.inf)
    return np.matmul(softmax(scores, -1), value)


BINDINGS: dict[str, Binding] = {
    "scaled_dot_product_attention": composed(
        scaled_dot_product_attention,
        "query, key, value, causal",
        note="numpy.matmul twice and a softmax of four functions; numpy.tri and numpy.where when causal",
    ),
}
