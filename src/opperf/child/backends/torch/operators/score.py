"""Scores in PyTorch, which has none: what evaluation libraries compose."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, composed


def accuracy(data: Any, labels: Any) -> Any:
    """Compare the best class with the label."""
    return (data.argmax(1) == labels).to(data.dtype).mean()


def top_k_accuracy(data: Any, labels: Any, k: int) -> Any:
    """Look for the label among the best classes."""
    return (data.topk(k, 1).indices == labels[:, None]).any(1).to(data.dtype).mean()


def f1_score(data: Any, labels: Any) -> Any:
    """Count what is found, what should be, and both."""
    found, wanted = data.argmax(1) == 1, labels == 1
    return (2 * (found & wanted).sum() / (found.sum() + wanted.sum())).to(data.dtype)


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

BINDINGS: dict[str, Binding] = {
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
