"""MXNet's reductions.

With `axis` None and dimensions dropped, those of `nd` return shape (1,): it has no tensor without dimensions.
"""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.call import Binding, Missing, call
from opperf.child.backends.mxnet.spelling import Composition, Settled, composed
from opperf.domain.backend import Unsupported

POSITIONS = "`nd` returns positions as float32"


def logsumexp(F: Any, data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Take the largest value out before exponentials are summed; no gradient needs to flow through it."""
    largest = F.BlockGrad(F.max(data, axis=axis, keepdims=True))
    found = F.log(F.sum(F.exp(F.broadcast_sub(data, largest)), axis=axis, keepdims=keepdims))
    return found + F.reshape_like(largest, found)


def variance(F: Any, data: Any, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Take the second of the moments."""
    if F is mx.sym:
        raise Unsupported("compiled, MXNet leaves out the mean that the variance needs", slug="no_compiled_form")
    return F.moments(data, axes=axes, keepdims=keepdims)[1]


def std(F: Any, data: Any, **settings: Any) -> Any:
    """Take the root of the variance."""
    return F.sqrt(variance(F, data, **settings))


def _variance(data: Any, axis: Any = None, keepdims: bool = False) -> Settled:
    return Composition(variance), (data,), {"axes": _all_or(axis, data.ndim), "keepdims": keepdims}


def _std(data: Any, axis: Any = None, keepdims: bool = False) -> Settled:
    return Composition(std), (data,), {"axes": _all_or(axis, data.ndim), "keepdims": keepdims}


def _all_or(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    return (axis,) if isinstance(axis, int) else tuple(axis)


BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"nd.{name}", "data", "axis, keepdims")
        for name in ("sum", "mean", "max", "min", "prod", "nansum", "nanprod", "norm")
    },
    # np.var and np.std say that their gradients are zero.
    "variance": composed(variance, "data", "axis, keepdims", note="the second result of nd.moments", settle=_variance),
    "std": composed(std, "data", "axis, keepdims", note="nd.moments and nd.sqrt, composed", settle=_std),
    "logsumexp": composed(
        logsumexp, "data", "axis, keepdims", note="maximum, difference, exp, sum and log of `nd`, composed"
    ),
    "argmax": call("nd.argmax", "data", "axis, keepdims", note=POSITIONS),
    "argmin": call("nd.argmin", "data", "axis, keepdims", note=POSITIONS),
    "all": call("np.all", "a=data", "axis, keepdims"),
    "any": call("np.any", "a=data", "axis, keepdims"),
    "cumsum": call("nd.cumsum", "data", "axis"),
    "cumprod": Missing("MXNet has no running product"),
}
