"""Reductions, sorting, and scores of predictions in PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, call, composed
from opperf.child.backends.torch.operators.shape import axis

# PyTorch's reductions. `prod`, `argmax`, `argmin` and the running ones take one axis, the others several.


def nanprod(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Count what is not a number as one."""
    numbers = torch.where(torch.isnan(data), 1, data)
    return numbers.prod() if axis is None else numbers.prod(axis, keepdims)


FOLD = "dim=axis, keepdim=keepdims"

_REDUCTION: dict[str, Binding] = {
    "sum": call("torch.sum", "input=data", FOLD),
    "mean": call("torch.mean", "input=data", FOLD),
    # `torch.max` along an axis returns indices as well; `torch.amax` is the maximum alone.
    "max": call("torch.amax", "input=data", FOLD),
    "min": call("torch.amin", "input=data", FOLD),
    "prod": call("torch.prod", "input=data", FOLD),
    "nansum": call("torch.nansum", "input=data", FOLD),
    "nanprod": composed(
        nanprod, "data", "axis=axis, keepdims=keepdims", note="torch.isnan, torch.where and torch.prod, composed"
    ),
    "norm": call("torch.linalg.vector_norm", "x=data", FOLD),
    "variance": call("torch.var", "input=data", f"{FOLD}, correction=0"),
    "std": call("torch.std", "input=data", f"{FOLD}, correction=0"),
    "logsumexp": call("torch.logsumexp", "input=data", FOLD, derive={"axis": axis}),
    "argmax": call("torch.argmax", "input=data", FOLD),
    "argmin": call("torch.argmin", "input=data", FOLD),
    "all": call("torch.all", "input=data", FOLD),
    "any": call("torch.any", "input=data", FOLD),
    "cumsum": call("torch.cumsum", "input=data", "dim=axis"),
    "cumprod": call("torch.cumprod", "input=data", "dim=axis"),
}


# PyTorch's sorting and selecting.

_SORTING: dict[str, Binding] = {
    # Returns the indices as well; there is no sort without them.
    "sort": call("torch.sort", "input=data", "dim=axis, descending=descending"),
    "argsort": call("torch.argsort", "input=data", "dim=axis, descending=descending"),
    "topk": call("torch.topk", "input=data, k=k", "dim=axis, largest=largest"),
}


# Scores in PyTorch, which has none: what evaluation libraries compose.


def accuracy(data: Any, labels: Any) -> Any:
    """Compare the best class with the label."""
    return (data.argmax(1) == labels).to(data.dtype).mean()


def top_k_accuracy(data: Any, labels: Any, k: int) -> Any:
    """Look for the label among the best classes."""
    return (data.topk(k, 1).indices == labels[:, None]).any(1).to(data.dtype).mean()


def f1_score(data: Any, labels: Any) -> Any:
    """Count what is found, what should be, and both."""
    prediction, truth = data.argmax(1) == 1, labels == 1
    return (2 * (prediction & truth).sum() / (prediction.sum() + truth.sum())).to(data.dtype)


def mean_absolute_error(data: Any, labels: Any) -> Any:
    """Average absolute differences."""
    return (data - labels).abs().mean()


def mean_squared_error(data: Any, labels: Any) -> Any:
    """Average squares of differences."""
    return (data - labels).square().mean()


def root_mean_squared_error(data: Any, labels: Any) -> Any:
    """Take the root of the average."""
    return mean_squared_error(data, labels).sqrt()


def negative_log_likelihood(data: Any, labels: Any) -> Any:
    """Pick the probability of each label."""
    return -data.gather(1, labels[:, None]).log().mean()


def perplexity(data: Any, labels: Any) -> Any:
    """Raise e to the power of the likelihood."""
    return negative_log_likelihood(data, labels).exp()


def pearson_correlation(data: Any, labels: Any) -> Any:
    """Take one element of the matrix of correlations."""
    return torch.corrcoef(torch.stack((data.flatten(), labels.flatten())))[0, 1]


PICKED = "torch.gather, torch.log and torch.mean"

_SCORE: dict[str, Binding] = {
    function.__name__: composed(function, arguments, note=f"{note}, composed")
    for function, arguments, note in (
        (accuracy, "data, labels", "torch.argmax, a comparison and torch.mean"),
        (top_k_accuracy, "data, labels, k", "torch.topk, a comparison, torch.any and torch.mean"),
        (f1_score, "data, labels", "torch.argmax, comparisons and sums"),
        (mean_absolute_error, "data, labels", "torch.abs of a difference and torch.mean"),
        (mean_squared_error, "data, labels", "torch.square of a difference and torch.mean"),
        (root_mean_squared_error, "data, labels", "torch.square of a difference, torch.mean and torch.sqrt"),
        (negative_log_likelihood, "data, labels", PICKED),
        (perplexity, "data, labels", f"{PICKED}, and torch.exp"),
        (pearson_correlation, "data, labels", "torch.stack and torch.corrcoef"),
    )
}


BINDINGS: dict[str, Binding] = {
    **_REDUCTION,
    **_SORTING,
    **_SCORE,
}
