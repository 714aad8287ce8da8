"""MXNet's embedding, and rows of one."""

from __future__ import annotations

from typing import Any

from opperf.backends.call import Binding, call
from opperf.backends.mxnet.spelling import Settled, settled


def _embedding(indices: Any, weight: Any) -> Settled:
    rows, width = weight.shape
    return "nd.Embedding", (indices, weight), {"input_dim": rows, "output_dim": width}


BINDINGS: dict[str, Binding] = {
    "embedding": settled("nd.Embedding", "indices, weight", settle=_embedding),
    "one_hot": call("nd.one_hot", "indices, depth", "dtype"),
}
