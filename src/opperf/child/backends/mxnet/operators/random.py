"""MXNet's random numbers."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding, call


def shares(data: Any) -> Any:
    """Return rows that add up to one, as MXNet wants them."""
    return data / data.sum(axis=1, keepdims=True)


BINDINGS: dict[str, Binding] = {
    "random_uniform": call("nd.random.uniform", "low, high", "shape=shape, dtype=dtype"),
    "random_normal": call("nd.random.normal", "loc=mean, scale=std", "shape=shape, dtype=dtype"),
    "random_integers": call("nd.random.randint", "low, high", "shape=shape, dtype=dtype"),
    "random_bernoulli": call("npx.random.bernoulli", "", "prob=probability, size=shape, dtype=dtype"),
    "random_poisson": call("nd.random.poisson", "lam=rate", "shape=shape, dtype=dtype"),
    "random_exponential": call("nd.random.exponential", "scale", "shape=shape, dtype=dtype"),
    "random_gamma": call("nd.random.gamma", "alpha, beta=scale", "shape=shape, dtype=dtype"),
    "random_negative_binomial": call(
        "nd.random.negative_binomial", "k=successes, p=probability", "shape=shape, dtype=dtype"
    ),
    "random_categorical": call("nd.random.multinomial", "data", "shape=count", adapt={"data": shares}),
    "shuffle": call("nd.random.shuffle", "data"),
}
