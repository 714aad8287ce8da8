"""Creation of arrays: constants, random numbers and initial weights in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from opperf.child.backends.binding import Binding, Call, composition, compositions, functions


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


def _fill(name: str, fill_name: str, more: str = "", **settings: Any) -> Call:
    fill: Callable[..., Any] = getattr(torch.nn.init, fill_name)

    def initializer(shape: Any, *, std: float | None = None, **keywords: Any) -> Any:
        parameters = settings if std is None else {"std": std, "a": -2 * std, "b": 2 * std}
        return fill(torch.empty(shape, **keywords), **parameters)

    initializer.__name__ = name
    return composition(initializer, "shape", f"dtype=dtype{more}", note=f"torch.empty and torch.nn.init.{fill_name}")


BINDINGS: dict[str, Binding] = {
    # PyTorch's tensors of known values.
    **functions(
        "torch",
        {
            ("shape", "dtype=dtype"): "zeros ones",
            ("size=shape, fill_value=value", "dtype=dtype"): "full",
            ("input=data", ""): "zeros_like ones_like",
            ("input=data, fill_value=value", ""): "full_like",
            ("start=start, end=stop, step=step", "dtype=dtype"): "arange",
            ("start=start, end=stop, steps=count", "dtype=dtype"): "linspace",
            ("n=rows, m=columns", "dtype=dtype"): "eye",
            ("mean=mean, std=std, size=shape", "dtype=dtype"): "random_normal=normal",
            ("low=low, high=high, size=shape", "dtype=dtype"): "random_integers=randint",
            ("input=data, num_samples=count", "replacement=True"): "random_categorical=multinomial",
        },
    ),
    # PyTorch's random numbers. Its own functions with bounds or a probability as numbers fill a tensor that exists.
    "random_uniform": composition(uniform, "shape, low, high", "dtype=dtype", note="torch.empty and uniform_"),
    "random_bernoulli": composition(bernoulli, "shape, probability", "dtype=dtype", note="torch.empty and bernoulli_"),
    "random_poisson": composition(poisson, "shape, rate", "dtype=dtype", note="torch.full and torch.poisson"),
    "random_exponential": composition(exponential, "shape, scale", "dtype=dtype", note="torch.empty and exponential_"),
    "random_gamma": composition(
        gamma, "shape, alpha, scale", "dtype=dtype", note="torch.full, torch._standard_gamma and a product"
    ),
    "random_negative_binomial": composition(
        negative_binomial,
        "shape, successes, probability",
        "dtype=dtype",
        note="torch.full, torch._standard_gamma, a product and torch.poisson",
    ),
    **compositions(
        shuffle=(lambda data: data[torch.randperm(len(data), device=data.device)], "torch.randperm and indexing")
    ),
    # Weights in PyTorch: a new tensor, filled in place by a function of `torch.nn.init`.
    "xavier_uniform": _fill("xavier_uniform", "xavier_uniform_"),
    "xavier_normal": _fill("xavier_normal", "xavier_normal_"),
    "kaiming_uniform": _fill("kaiming_uniform", "kaiming_uniform_", nonlinearity="relu"),
    "kaiming_normal": _fill("kaiming_normal", "kaiming_normal_", nonlinearity="relu"),
    "truncated_normal": _fill("truncated_normal", "trunc_normal_", ", std=std"),
    "orthogonal": _fill("orthogonal", "orthogonal_"),
}
