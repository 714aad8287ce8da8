"""Creation of arrays: constants, random numbers and initial weights in JAX.

JAX has no hidden state to draw from, so random operators share one key, made once and the same at every call. It is an
argument like any tensor: closed over, XLA would draw the numbers when it compiles. It is of the older, plain kind
(`PRNGKey`), since typed keys (`jax.random.key`) miss the fast path of jitted calls: 8.7 us instead of 5.0 for four
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from opperf.child.backends.binding import Binding, Call, Parameter, functions, parameters

NOTE = "the same key at every call"
#: Made when the first binding that draws is asked for, when platform and device are settled.
KEY = Parameter("key", constant=jax.random.PRNGKey(0).block_until_ready())


def normal(key: Any, shape: Any, dtype: Any, mean: float | None, std: float | None) -> Any:
    """Return numbers of a normal distribution; JAX's own has mean 0 and standard deviation 1."""
    sample = jax.random.normal(key, shape, dtype)
    scaled = sample if std in (None, 1) else sample * std
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


#: Where the sides of a shape (out, in) stand.
AXES = {"in_axis": -1, "out_axis": -2}


def truncated_normal(key: Any, shape: Any, dtype: Any, std: float) -> Any:
    return jax.nn.initializers.truncated_normal(std)(key, shape, dtype)


def _with_key(name: str, function: Callable[..., Any], arguments: str, note: str) -> Call:
    path = f"composition:{name}"
    return Call(path, (KEY, *parameters(arguments)), function=function, note=f"{note}; {NOTE}")


def _initializer(name: str, function: Callable[..., Any], more: str = "") -> Call:
    return _with_key(name, function, "shape, dtype", f"jax.nn.initializers.{name}{more}")


BINDINGS: dict[str, Binding] = {
    # JAX's arrays of known values.
    #
    # A compiled program that takes no arrays may hold numbers that XLA worked out beforehand, and then copies them:
    # that is what users of `jax.jit` get.
    **functions(
        "jax.numpy",
        {
            ("shape, dtype", ""): "zeros ones",
            ("shape=shape, fill_value=value, dtype=dtype", ""): "full",
            ("a=data", ""): "zeros_like ones_like",
            ("a=data, fill_value=value", ""): "full_like",
        },
    ),
    **functions(
        "jax.numpy",
        {
            ("start, stop, step, dtype", ""): "arange",
            ("start=start, stop=stop, num=count", "dtype=dtype"): "linspace",
            ("N=rows, M=columns", "dtype=dtype"): "eye",
        },
        note="a program without inputs: XLA may compute its numbers while compiling",
    ),
    # Drawing numbers in JAX, from a key that is an argument.
    "random_uniform": Call(
        "jax.random.uniform", (KEY, *parameters("shape, dtype")), parameters("minval=low, maxval=high"), note=NOTE
    ),
    "random_normal": _with_key(
        "normal", normal, "shape, dtype, mean, std", "jax.random.normal, scaled and shifted where asked"
    ),
    "random_integers": Call(
        "jax.random.randint", (KEY, *parameters("shape=shape, minval=low, maxval=high, dtype=dtype")), note=NOTE
    ),
    **{
        f"random_{function.__name__}": _with_key(function.__name__, function, arguments, note)
        for function, arguments, note in (
            (bernoulli, "probability, shape, dtype", "jax.random.bernoulli and a cast"),
            (poisson, "shape, dtype, rate", "jax.random.poisson and a cast"),
            (exponential, "shape, dtype, scale", "jax.random.exponential, scaled"),
            (gamma, "shape, dtype, alpha, scale", "jax.random.gamma, scaled"),
            (
                negative_binomial,
                "shape, dtype, successes, probability",
                "jax.random.gamma, scaled, and jax.random.poisson",
            ),
            (categorical, "data, count", "jax.numpy.log and jax.random.categorical"),
        )
    },
    "shuffle": Call("jax.random.permutation", (KEY, *parameters("x=data")), note=NOTE),
    # Weights in JAX: functions of `jax.nn.initializers`, which take a key.
    "xavier_uniform": _initializer("xavier_uniform", jax.nn.initializers.xavier_uniform(**AXES)),
    "xavier_normal": _initializer(
        "xavier_normal", jax.nn.initializers.xavier_normal(**AXES), ", within two deviations"
    ),
    "kaiming_uniform": _initializer("kaiming_uniform", jax.nn.initializers.kaiming_uniform(**AXES)),
    "kaiming_normal": _initializer(
        "kaiming_normal", jax.nn.initializers.kaiming_normal(**AXES), ", within two deviations"
    ),
    "truncated_normal": _with_key(
        "truncated_normal", truncated_normal, "shape, dtype, std", "jax.nn.initializers.truncated_normal"
    ),
    "orthogonal": _initializer("orthogonal", jax.nn.initializers.orthogonal()),
}
