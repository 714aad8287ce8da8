"""MXNet's pooling: one operator for all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opperf.child.backends.call import Binding, Call, call
from opperf.child.backends.mxnet.spelling import Settled, settled


def _windows(kind: str) -> Callable[..., Settled]:
    def settle(data: Any, kernel: Any, stride: Any = None, pad: Any = 0, **more: Any) -> Settled:
        count = data.ndim - 2
        kernel, stride, pad = (
            (value,) * count if isinstance(value, int) else value
            for value in (kernel, kernel if stride is None else stride, pad or 0)
        )
        return "nd.Pooling", (data,), {"kernel": kernel, "stride": stride, "pad": pad, "pool_type": kind, **more}

    return settle


def _pool(kind: str, *also: str) -> Call:
    return settled("nd.Pooling", "data, kernel", "stride=stride, pad=padding", settle=_windows(kind), also=also)


def _global(kind: str) -> Call:
    return call("nd.Pooling", "data", f"global_pool=True, pool_type={kind!r}")


BINDINGS: dict[str, Binding] = {
    "max_pool1d": _pool("max"),
    "avg_pool1d": _pool("avg"),
    "max_pool2d": _pool("max", "nd.Pooling"),  # what it does unless told otherwise
    "avg_pool2d": _pool("avg"),
    "global_avg_pool2d": call("nd.Pooling", "data", "global_pool=True, pool_type='avg'"),
    "global_max_pool2d": call("nd.Pooling", "data", "global_pool=True, pool_type='max'"),
    "max_pool3d": _pool("max"),
    "avg_pool3d": _pool("avg"),
    "global_avg_pool1d": _global("avg"),
    "global_max_pool1d": _global("max"),
    "global_avg_pool3d": _global("avg"),
    "global_max_pool3d": _global("max"),
    "adaptive_avg_pool2d": call("nd.contrib.AdaptiveAvgPooling2D", "data", "output_size=output_size"),
    "lp_pool2d": settled("nd.Pooling", "data, kernel", "stride=stride, p_value=power", settle=_windows("lp")),
}
