"""MXNet's sorting and selecting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.call import Binding, call


def _ascending(case: Mapping[str, Any]) -> bool:
    return not case.get("descending", False)


def _smallest(case: Mapping[str, Any]) -> bool:
    return not case.get("largest", True)


BINDINGS: dict[str, Binding] = {
    "sort": call("nd.sort", "data", "axis=axis, is_ascend=ascending", derive={"ascending": _ascending}),
    "argsort": call(
        "nd.argsort", "data", "axis=axis, is_ascend=ascending, dtype='int64'", derive={"ascending": _ascending}
    ),
    "topk": call(
        "nd.topk",
        "data",
        "axis=axis, k=k, ret_typ='both', is_ascend=smallest, dtype='int64'",
        derive={"smallest": _smallest},
    ),
}
