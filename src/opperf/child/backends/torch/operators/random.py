"""PyTorch's random numbers. Its own functions with bounds or a probability as numbers fill a tensor that exists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from opperf.child.backends.call import Binding, call, composed


def uniform(shape: Sequence[int], low: float, high: float, **keywords: Any) -> Any:
    """Return a new tensor filled in place; `torch.rand` knows no bounds."""
    return torch.empty(shape, **keywords).uniform_(low, high)


def bernoulli(shape: Sequence[int], probability: float, **keywords: Any) -> Any:
    """Return a new tensor filled in place; `torch.bernoulli` wants a tensor of probabilities."""
    return torch.empty(shape, **keywords).bernoulli_(probability)


def poisson(shape: Sequence[int], rate: float, **keywords: Any) -> Any:
    """Return counts; the rates are a tensor."""
    return torch.poisson(torch.full(shape, rate, **keywords))


def exponential(shape: Sequence[int], scale: float, **keywords: Any) -> Any:
    """Return a new tensor filled in place; PyTorch takes one over the scale."""
    return torch.empty(shape, **keywords).exponential_(1 / scale)


def gamma(shape: Sequence[int], alpha: float, scale: float, **keywords: Any) -> Any:
    """Return scaled numbers, as `torch.distributions` draws them."""
    return torch._standard_gamma(torch.full(shape, alpha, **keywords)).mul_(scale)


def negative_binomial(shape: Sequence[int], successes: int, probability: float, **keywords: Any) -> Any:
    """Return counts whose rates are drawn themselves."""
    return torch.poisson(gamma(shape, successes, (1 - probability) / probability, **keywords))


def shuffle(data: Any) -> Any:
    """Return the rows in an order that is drawn."""
    return data[torch.randperm(len(data), device=data.device)]


BINDINGS: dict[str, Binding] = {
    "random_uniform": composed(uniform, "shape, low, high", "dtype=dtype", note="torch.empty and uniform_"),
    "random_normal": call("torch.normal", "mean=mean, std=std, size=shape", "dtype=dtype"),
    "random_integers": call("torch.randint", "low=low, high=high, size=shape", "dtype=dtype"),
    "random_bernoulli": composed(bernoulli, "shape, probability", "dtype=dtype", note="torch.empty and bernoulli_"),
    "random_poisson": composed(poisson, "shape, rate", "dtype=dtype", note="torch.full and torch.poisson"),
    "random_exponential": composed(exponential, "shape, scale", "dtype=dtype", note="torch.empty and exponential_"),
    "random_gamma": composed(
        gamma, "shape, alpha, scale", "dtype=dtype", note="torch.full, torch._standard_gamma and a product"
    ),
    "random_negative_binomial": composed(
        negative_binomial,
        "shape, successes, probability",
        "dtype=dtype",
        note="torch.full, torch._standard_gamma, a product and torch.poisson",
    ),
    "random_categorical": call("torch.multinomial", "input=data, num_samples=count", "replacement=True"),
    "shuffle": composed(shuffle, "data", note="torch.randperm and indexing"),
}
