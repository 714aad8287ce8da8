"""Reductions, sorting, and scores of predictions in MXNet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mxnet as mx

from opperf.child.backends.binding import Binding, Missing, call, functions
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, composition
from opperf.domain.backend import Unsupported

# MXNet's reductions.
#
# With `axis` None and dimensions dropped, those of `nd` return shape (1,): it has no tensor without dimensions.


def logsumexp(F: Any, data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Take the largest value out before exponentials are summed; no gradient needs to flow through it."""
    largest = F.BlockGrad(F.max(data, axis=axis, keepdims=True))
    result = F.log(F.sum(F.exp(F.broadcast_sub(data, largest)), axis=axis, keepdims=keepdims))
    return result + F.reshape_like(largest, result)


def variance(F: Any, data: Any, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    if F is mx.sym:
        raise Unsupported("compiled, MXNet leaves out the mean that the variance needs", slug="no_compiled_form")
    return F.moments(data, axes=axes, keepdims=keepdims)[1]


def std(F: Any, data: Any, **settings: Any) -> Any:
    return F.sqrt(variance(F, data, **settings))


def _variance(data: Any, axis: Any = None, keepdims: bool = False) -> CallSpec:
    return Composition(variance), (data,), {"axes": _all_or(axis, data.ndim), "keepdims": keepdims}


def _std(data: Any, axis: Any = None, keepdims: bool = False) -> CallSpec:
    return Composition(std), (data,), {"axes": _all_or(axis, data.ndim), "keepdims": keepdims}


def _all_or(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    return (axis,) if isinstance(axis, int) else tuple(axis)


# Scores in MXNet: its metrics, which take arrays to the host and compute there in NumPy.
#
# A metric is made once, before anything is timed. A call forgets what it holds, updates it with one batch and reads it.


def metric(F: Any, data: Any, labels: Any, score: Any) -> Any:
    """Return the value of a metric for one batch."""
    if F is mx.sym:
        raise Unsupported("MXNet's metrics compute in NumPy, which does not compile", slug="no_compiled_form")
    score.reset()
    score.update([labels], [data])
    with mx.util.np_shape(True):  # a number has no dimensions
        return mx.np.array(score.get()[1], dtype=data.dtype)


def _metric(name: str) -> Callable[[Mapping[str, Any]], Any]:
    def make(arguments: Mapping[str, Any]) -> Any:
        settings = {"TopKAccuracy": {"top_k": arguments.get("k")}, "Perplexity": {"ignore_label": None}}
        return getattr(mx.metric, name)(**settings.get(name, {}))

    return make


BINDINGS: dict[str, Binding] = {
    **functions(
        "nd", {("data", "axis, keepdims"): "sum mean max min prod nansum nanprod norm", ("data", "axis"): "cumsum"}
    ),
    **functions("nd", {("data", "axis, keepdims"): "argmax argmin"}, note="`nd` returns positions as float32"),
    **functions("np", {("a=data", "axis, keepdims"): "all any"}),
    # np.var and np.std say that their gradients are zero.
    "variance": composition(variance, note="the second result of nd.moments", settle=_variance),
    "std": composition(std, note="nd.moments and nd.sqrt, composed", settle=_std),
    "logsumexp": composition(logsumexp, note="maximum, difference, exp, sum and log of `nd`, composed"),
    "cumprod": Missing("MXNet has no running product"),
    **functions(
        "nd",
        {
            ("data", "axis=axis, is_ascend=ascending"): "sort",
            ("data", "axis=axis, is_ascend=ascending, dtype='int64'"): "argsort",
        },
        derive={"ascending": lambda case: not case.get("descending", False)},
    ),
    "topk": call(
        "nd.topk",
        "data",
        "axis=axis, k=k, ret_typ='both', is_ascend=smallest, dtype='int64'",
        derive={"smallest": lambda case: not case.get("largest", True)},
    ),
    **{
        name: composition(metric, derive={"score": _metric(own)}, note=f"mx.metric.{own}, in NumPy")
        for name, own in {
            "accuracy": "Accuracy",
            "top_k_accuracy": "TopKAccuracy",
            "f1_score": "F1",
            "mean_absolute_error": "MAE",
            "mean_squared_error": "MSE",
            "root_mean_squared_error": "RMSE",
            "negative_log_likelihood": "NegativeLogLikelihood",
            "perplexity": "Perplexity",
            "pearson_correlation": "PearsonCorrelation",
        }.items()
    },
}
