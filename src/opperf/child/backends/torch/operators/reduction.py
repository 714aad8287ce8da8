"""Reductions, sorting, and scores of predictions in PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.binding import Binding, call, composition, compositions, functions
from opperf.child.backends.torch.operators.shape import axis


def nanprod(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Count what is not a number as one."""
    numbers = torch.where(torch.isnan(data), 1, data)
    return numbers.prod() if axis is None else numbers.prod(axis, keepdims)


FOLD = "dim=axis, keepdim=keepdims"


def f1_score(data: Any, labels: Any) -> Any:
    prediction, truth = data.argmax(1) == 1, labels == 1
    return (2 * (prediction & truth).sum() / (prediction.sum() + truth.sum())).to(data.dtype)


GATHER = "torch.gather, torch.log and torch.mean"

BINDINGS: dict[str, Binding] = {
    # PyTorch's reductions. `prod`, `argmax`, `argmin` and the running ones take one axis, the others several. Along an
    # axis `torch.max` returns indices as well, `torch.amax` the maximum alone. There is no sort without indices.
    **functions(
        "torch",
        {
            ("input=data", FOLD): "sum mean max=amax min=amin prod nansum argmax argmin all any",
            ("input=data", f"{FOLD}, correction=0"): "variance=var std",
            ("x=data", FOLD): "norm=linalg.vector_norm",
            ("input=data", "dim=axis"): "cumsum cumprod",
            ("input=data", "dim=axis, descending=descending"): "sort argsort",
            ("input=data, k=k", "dim=axis, largest=largest"): "topk",
        },
    ),
    "logsumexp": call("torch.logsumexp", "input=data", FOLD, derive={"axis": axis}),
    "nanprod": composition(nanprod, note="torch.isnan, torch.where and torch.prod, composed"),
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
