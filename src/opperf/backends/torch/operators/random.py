"""PyTorch's random numbers. Its own functions with bounds or a probability as numbers fill a tensor that exists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from opperf.backends.call import Binding, call, composed


def uniform(shape: Sequence[int], low: float, high: float, **keywords: Any) -> Any:
    """Return a new tensor filled in place; `torch.rand` knows no bounds."""
    return torch.empty(shape, **keywords).uniform_(low, high)


def bernoulli(shape: Sequence[int], probability: float, **keywords: Any) -> Any:
    """Return a new tensor filled in place; `torch.bernoulli` wants a tensor of probabilities."""
    return torch.empty(shape, **keywords).bernoulli_(probability)


BINDINGS: dict[str, Binding] = {
    "random_uniform": composed(uniform, "shape, low, high", "dtype=dtype", note="torch.empty and uniform_"),
    "random_normal": call("torch.normal", "mean=mean, std=std, size=shape", "dtype=dtype"),
    "random_integers": call("torch.randint", "low=low, high=high, size=shape", "dtype=dtype"),
    "random_bernoulli": composed(bernoulli, "shape, probability", "dtype=dtype", note="torch.empty and bernoulli_"),
}
