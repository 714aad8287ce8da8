"""Attention, composed: MXNet's fused ones take interleaved projections, not queries, keys and values."""

from __future__ import annotations

from typing import Any

import mxnet as mx
import numpy

from opperf.backends.call import Binding
from opperf.backends.mxnet.spelling import Composition, Settled, composed


def scaled_dot_product_attention(F: Any, query: Any, key: Any, value: Any, *mask: Any, scale: float) -> Any:
    """Weigh the values; a mask is added to the scores."""
    scores = F.linalg.gemm2(query, key, transpose_b=True, alpha=scale)
    if mask:
        scores = F.broadcast_add(scores, mask[0])
    return F.linalg.gemm2(F.softmax(scores, axis=-1), value)


def _attention(query: Any, key: Any, value: Any, causal: bool = False) -> Settled:
    arrays = [query, key, value]
    if causal:
        future = numpy.triu(numpy.full((query.shape[-2], key.shape[-2]), -numpy.inf), 1)
        mask = future.reshape((1,) * (query.ndim - 2) + future.shape)
        arrays.append(mx.nd.array(mask, ctx=query.context, dtype=query.dtype))
    return Composition(scaled_dot_product_attention), tuple(arrays), {"scale": query.shape[-1] ** -0.5}


BINDINGS: dict[str, Binding] = {
    "scaled_dot_product_attention": composed(
        scaled_dot_product_attention,
        "query, key, value",
        "causal=causal",
        note="nd.linalg.gemm2, nd.softmax and nd.linalg.gemm2; the causal mask is made before and added",
        settle=_attention,
    ),
}
