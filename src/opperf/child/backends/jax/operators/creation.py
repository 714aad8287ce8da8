"""Creation of arrays: constants, random numbers and initial weights in JAX.

The key that random operators draw from, made once and the same at every call.
JAX has no hidden state to draw from. The key is an argument like any tensor: closed over, XLA would draw the numbers
when it compiles. It is of the older, plain kind (`PRNGKey`), since typed keys (`jax.random.key`) miss the fast path of
jitted calls: 8.7 us instead of 5.0 for four numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from opperf.child.backends.binding import Binding, Call, Parameter, call, parameters

NOTE = "the same key at every call"
#: Made when the first binding that draws is asked for, when platform and device are settled.
KEY = Parameter("key", constant=jax.random.PRNGKey(0).block_until_ready())


CONSTANT_PROGRAM = "a program without inputs: XLA may compute its numbers while compiling"


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
    """Return numbers within two deviations."""
    return jax.nn.initializers.truncated_normal(std)(key, shape, dtype)


def _initializer(name: str, function: Callable[..., Any], more: str = "") -> Call:
    return Call(
        f"composition:{name}",
        (KEY, *parameters("shape, dtype")),
        function=function,
        note=f"jax.nn.initializers.{name}{more}; {NOTE}",
    )


BINDINGS: dict[str, Binding] = {
    # JAX's arrays of known values.
    #
    # A compiled program that takes no arrays may hold numbers that XLA worked out beforehand, and then copies them:
    # that is what users of `jax.jit` get.
    "zeros": call("jax.numpy.zeros", "shape, dtype"),
    "ones": call("jax.numpy.ones", "shape, dtype"),
    "full": call("jax.numpy.full", "shape=shape, fill_value=value, dtype=dtype"),
    "zeros_like": call("jax.numpy.zeros_like", "a=data"),
    "ones_like": call("jax.numpy.ones_like", "a=data"),
    "full_like": call("jax.numpy.full_like", "a=data, fill_value=value"),
    "arange": call("jax.numpy.arange", "start, stop, step, dtype", note=CONSTANT_PROGRAM),
    "linspace": call("jax.numpy.linspace", "start=start, stop=stop, num=count", "dtype=dtype", note=CONSTANT_PROGRAM),
    "eye": call("jax.numpy.eye", "N=rows, M=columns", "dtype=dtype", note=CONSTANT_PROGRAM),
    # Drawing numbers in JAX, from a key that is an argument.
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
            (KEY, *parameters(f"shape, dtype, {argument_text}")),
            function=function,
            note=f"{note}; {NOTE}",
        )
        for function, argument_text, note in (
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
    # Weights in JAX: functions of `jax.nn.initializers`, which take a key.
    "xavier_uniform": _initializer("xavier_uniform", jax.nn.initializers.xavier_uniform(**AXES)),
    "xavier_normal": _initializer(
        "xavier_normal", jax.nn.initializers.xavier_normal(**AXES), ", within two deviations"
    ),
    "kaiming_uniform": _initializer("kaiming_uniform", jax.nn.initializers.kaiming_uniform(**AXES)),
    "kaiming_normal": _initializer(
        "kaiming_normal", jax.nn.initializers.kaiming_normal(**AXES), ", within two deviations"
    ),
    "truncated_normal": Call(
        "composition:truncated_normal",
        (KEY, *parameters("shape, dtype, std")),
        function=truncated_normal,
        note=f"jax.nn.initializers.truncated_normal; {NOTE}",
    ),
    "orthogonal": _initializer("orthogonal", jax.nn.initializers.orthogonal()),
}
