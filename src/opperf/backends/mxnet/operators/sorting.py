"""MXNet's sorting and selecting."""

from __future__ import annotations

from operator import not_

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "sort": call("nd.sort", "data", "axis=axis, is_ascend=descending", adapt={"descending": not_}),
    "argsort": call("nd.argsort", "data", "axis=axis, is_ascend=descending, dtype='int64'", adapt={"descending": not_}),
    "topk": call(
        "nd.topk",
        "data",
        "axis=axis, k=k, ret_typ='both', is_ascend=largest, dtype='int64'",
        adapt={"largest": not_},
    ),
}
