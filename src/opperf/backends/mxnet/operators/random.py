"""MXNet's random numbers."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "random_uniform": call("nd.random.uniform", "low, high", "shape=shape, dtype=dtype"),
    "random_normal": call("nd.random.normal", "loc=mean, scale=std", "shape=shape, dtype=dtype"),
    "random_integers": call("nd.random.randint", "low, high", "shape=shape, dtype=dtype"),
    "random_bernoulli": call("npx.random.bernoulli", "", "prob=probability, size=shape, dtype=dtype"),
}
