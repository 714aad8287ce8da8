"""MXNet's embedding, and rows of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.call import Binding, call
from opperf.child.backends.mxnet.spelling import Composition, Settled, composed


def _rows(case: Mapping[str, Any]) -> int:
    return int(case["weight"].shape[0])


def _width(case: Mapping[str, Any]) -> int:
    return int(case["weight"].shape[1])


def embedding_bag_sum(F: Any, indices: Any, weight: Any, *, rows: int, width: int) -> Any:
    """Look the rows up, then add them."""
    return F.sum(F.Embedding(indices, weight, input_dim=rows, output_dim=width), axis=-2)


def embedding_bag_mean(F: Any, indices: Any, weight: Any, *, rows: int, width: int) -> Any:
    """Look the rows up, then take their mean."""
    return F.mean(F.Embedding(indices, weight, input_dim=rows, output_dim=width), axis=-2)


def _sum(indices: Any, weight: Any) -> Settled:
    rows, width = weight.shape
    return Composition(embedding_bag_sum), (indices, weight), {"rows": rows, "width": width}


def _mean(indices: Any, weight: Any) -> Settled:
    rows, width = weight.shape
    return Composition(embedding_bag_mean), (indices, weight), {"rows": rows, "width": width}


BINDINGS: dict[str, Binding] = {
    "embedding": call(
        "nd.Embedding",
        "data=indices, weight=weight",
        "input_dim=rows, output_dim=width",
        derive={"rows": _rows, "width": _width},
    ),
    "one_hot": call("nd.one_hot", "indices, depth", "dtype"),
    "embedding_bag_sum": composed(embedding_bag_sum, "indices, weight", note="nd.Embedding and nd.sum", settle=_sum),
    "embedding_bag_mean": composed(
        embedding_bag_mean, "indices, weight", note="nd.Embedding and nd.mean", settle=_mean
    ),
}
