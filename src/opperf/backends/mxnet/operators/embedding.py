"""MXNet's embedding, and rows of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.backends.call import Binding, call


def _rows(case: Mapping[str, Any]) -> int:
    return int(case["weight"].shape[0])


def _width(case: Mapping[str, Any]) -> int:
    return int(case["weight"].shape[1])


BINDINGS: dict[str, Binding] = {
    "embedding": call(
        "nd.Embedding",
        "data=indices, weight=weight",
        "input_dim=rows, output_dim=width",
        derive={"rows": _rows, "width": _width},
    ),
    "one_hot": call("nd.one_hot", "indices, depth", "dtype"),
}
