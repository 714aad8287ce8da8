"""Reductions, sorting, and scores of predictions in PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.binding import Binding, call, composition, compositions
from opperf.child.backends.torch.operators.shape import axis


def nanprod(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Count what is not a number as one."""
    numbers = torch.where(torch.isnan(data), 1, data)
    return numbers.prod() if axis is None else numbers.prod(axis, keepdims)


FOLD = "dim=axis, keepdim=keepdims"


def f1_score(data: Any, labels: Any) -> Any:
    """Count what is found, what should be, and both."""
    prediction, truth = data.argmax(1) == 1, labels == 1
    return (2 * (prediction & truth).sum() / (prediction.sum() + truth.sum())).to(data.dtype)


GATHER = "torch.gather, torch.log and torch.mean"

BINDINGS: dict[str, Binding] = {
    # PyTorch's reductions. `prod`, `argmax`, `argmin` and the running ones take one axis, the others several.
    "sum": call("torch.sum", "input=data", FOLD),
    "mean": call("torch.mean", "input=data", FOLD),
    # `torch.max` along an axis returns indices as well; `torch.amax` is the maximum alone.
    "max": call("torch.amax", "input=data", FOLD),
    "min": call("torch.amin", "input=data", FOLD),
    "prod": call("torch.prod", "input=data", FOLD),
    "nansum": call("torch.nansum", "input=data", FOLD),
    "nanprod": composition(
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
    # PyTorch's sorting and selecting.
    # Returns the indices as well; there is no sort without them.
    "sort": call("torch.sort", "input=data", "dim=axis, descending=descending"),
    "argsort": call("torch.argsort", "input=data", "dim=axis, descending=descending"),
    "topk": call("torch.topk", "input=data, k=k", "dim=axis, largest=largest"),
    # Scores in PyTorch, which has none: what evaluation libraries compose.
    **compositions(
        accuracy=(
            lambda data, labels: (data.argmax(1) == labels).to(data.dtype).mean(),
            "torch.argmax, a comparison and torch.mean, composed",
        ),
        top_k_accuracy=(
            lambda data, labels, k: (data.topk(k, 1).indices == labels[:, None]).any(1).to(data.dtype).mean(),
            "torch.topk, a comparison, torch.any and torch.mean, composed",
        ),
        f1_score=(f1_score, "torch.argmax, comparisons and sums, composed"),
        mean_absolute_error=(
            lambda data, labels: (data - labels).abs().mean(),
            "torch.abs of a difference and torch.mean, composed",
        ),
        mean_squared_error=(
            lambda data, labels: (data - labels).square().mean(),
            "torch.square of a difference and torch.mean, composed",
        ),
        root_mean_squared_error=(
            lambda data, labels: (data - labels).square().mean().sqrt(),
            "torch.square of a difference, torch.mean and torch.sqrt, composed",
        ),
        negative_log_likelihood=(
            lambda data, labels: -data.gather(1, labels[:, None]).log().mean(),
            f"{GATHER}, composed",
        ),
        perplexity=(
            lambda data, labels: (-data.gather(1, labels[:, None]).log().mean()).exp(),
            f"{GATHER}, and torch.exp, composed",
        ),
        pearson_correlation=(
            lambda data, labels: torch.corrcoef(torch.stack((data.flatten(), labels.flatten())))[0, 1],
            "torch.stack and torch.corrcoef, composed",
        ),
    ),
}
