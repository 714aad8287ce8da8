"""Scores in MXNet: its metrics, which take arrays to the host and compute there in NumPy.

A metric is made once, before anything is timed. A call forgets what it holds, updates it with one batch and reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mxnet as mx

from opperf.child.backends.call import Binding
from opperf.child.backends.mxnet.spelling import composed
from opperf.domain.backend import Unsupported


def metric(F: Any, data: Any, labels: Any, score: Any) -> Any:
    """Return the value of a metric for one batch."""
    if F is mx.sym:
        raise Unsupported("MXNet's metrics compute in NumPy, which does not compile", slug="no_compiled_form")
    score.reset()
    score.update([labels], [data])
    with mx.util.np_shape(True):  # a number has no dimensions
        return mx.np.array(score.get()[1], dtype=data.dtype)


def _made(name: str, **settings: Any) -> Callable[[Mapping[str, Any]], Any]:
    return lambda made: getattr(mx.metric, name)(**settings)


def _top_k(made: Mapping[str, Any]) -> Any:
    return mx.metric.TopKAccuracy(top_k=made["k"])


BINDINGS: dict[str, Binding] = {
    name: composed(metric, "data, labels, score", derive={"score": make}, note=f"mx.metric.{own}, in NumPy")
    for name, own, make in (
        ("accuracy", "Accuracy", _made("Accuracy")),
        ("top_k_accuracy", "TopKAccuracy", _top_k),
        ("f1_score", "F1", _made("F1")),
        ("mean_absolute_error", "MAE", _made("MAE")),
        ("mean_squared_error", "MSE", _made("MSE")),
        ("root_mean_squared_error", "RMSE", _made("RMSE")),
        ("negative_log_likelihood", "NegativeLogLikelihood", _made("NegativeLogLikelihood")),
        ("perplexity", "Perplexity", _made("Perplexity", ignore_label=None)),
        ("pearson_correlation", "PearsonCorrelation", _made("PearsonCorrelation")),
    )
}
