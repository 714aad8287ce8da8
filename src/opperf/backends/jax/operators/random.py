"""Drawing numbers in JAX, from a key that is an argument."""

from __future__ import annotations

from typing import Any

import jax

from opperf.backends.call import Binding, Call, parameters
from opperf.backends.jax.random_key import KEY, NOTE


def normal(key: Any, shape: Any, dtype: Any, mean: float | None, std: float | None) -> Any:
    """Return numbers of a normal distribution; JAX's own has mean 0 and standard deviation 1."""
    drawn = jax.random.normal(key, shape, dtype)
    scaled = drawn if std in (None, 1) else drawn * std
    return scaled if mean in (None, 0) else scaled + mean


def bernoulli(key: Any, probability: float | None, shape: Any, dtype: Any) -> Any:
    """Return ones and zeros; JAX's own returns truth values."""
    return jax.random.bernoulli(key, 0.5 if probability is None else probability, shape).astype(dtype)


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
}
