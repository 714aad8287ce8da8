"""Drawing numbers in JAX, from a key that is an argument."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from opperf.child.backends.call import Binding, Call, parameters
from opperf.child.backends.jax.random_key import KEY, NOTE


def normal(key: Any, shape: Any, dtype: Any, mean: float | None, std: float | None) -> Any:
    """Return numbers of a normal distribution; JAX's own has mean 0 and standard deviation 1."""
    drawn = jax.random.normal(key, shape, dtype)
    scaled = drawn if std in (None, 1) else drawn * std
    return scaled if mean in (None, 0) else scaled + mean


def bernoulli(key: Any, probability: float | None, shape: Any, dtype: Any) -> Any:
    """Return ones and zeros; JAX's own returns truth values."""
    return jax.random.bernoulli(key, 0.5 if probability is None else probability, shape).astype(dtype)


def poisson(key: Any, shape: Any, dtype: Any, rate: Any) -> Any:
    """Return counts; JAX's own are whole numbers."""
    return jax.random.poisson(key, rate, shape).astype(dtype)


def exponential(key: Any, shape: Any, dtype: Any, scale: float) -> Any:
    """Return times between rare events; JAX's own are one on average."""
    return jax.random.exponential(key, shape, dtype) * scale


def gamma(key: Any, shape: Any, dtype: Any, alpha: float, scale: float) -> Any:
    """Return scaled numbers."""
    return jax.random.gamma(key, alpha, shape, dtype) * scale


def negative_binomial(key: Any, shape: Any, dtype: Any, successes: int, probability: float) -> Any:
    """Return counts whose rates are drawn themselves."""
    first, second = jax.random.split(key)
    return poisson(second, shape, dtype, gamma(first, shape, dtype, successes, (1 - probability) / probability))


def categorical(key: Any, data: Any, count: int) -> Any:
    """Return places by the logarithms of the probabilities."""
    return jax.random.categorical(key, jnp.log(data)[:, None, :], shape=(len(data), count))


BINDINGS: dict[str, Binding] = {
    "random_uniform": Call(
        "jax.random.uniform", (KEY, *parameters("shape, dtype")), parameters("minval=low, maxval=high"), note=NOTE
    ),
    "random_normal": Call(
        "composition:normal",
        (KEY, *parameters("shape, dtype, mean, std")),
        function=normal,
        note=f"jax.random.normal, scaled and shifted where asked; {NOTE}",
    ),
    "random_integers": Call(
        "jax.random.randint", (KEY, *parameters("shape=shape, minval=low, maxval=high, dtype=dtype")), note=NOTE
    ),
    "random_bernoulli": Call(
        "composition:bernoulli",
        (KEY, *parameters("probability, shape, dtype")),
        function=bernoulli,
        note=f"jax.random.bernoulli and a cast; {NOTE}",
    ),
    **{
        f"random_{function.__name__}": Call(
            f"composition:{function.__name__}",
            (KEY, *parameters(f"shape, dtype, {taken}")),
            function=function,
            note=f"{note}; {NOTE}",
        )
        for function, taken, note in (
            (poisson, "rate", "jax.random.poisson and a cast"),
            (exponential, "scale", "jax.random.exponential, scaled"),
            (gamma, "alpha, scale", "jax.random.gamma, scaled"),
            (negative_binomial, "successes, probability", "jax.random.gamma, scaled, and jax.random.poisson"),
        )
    },
    "random_categorical": Call(
        "composition:categorical",
        (KEY, *parameters("data, count")),
        function=categorical,
        note=f"jax.numpy.log and jax.random.categorical; {NOTE}",
    ),
    "shuffle": Call("jax.random.permutation", (KEY, *parameters("x=data")), note=NOTE),
}
