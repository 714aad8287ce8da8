"""Numbers drawn in NumPy by methods of `numpy.random.Generator`.

One generator, seeded, is made for each call that is bound, never within the time. `uniform` and `normal` draw float64
only, `random` and `standard_normal` float32 too, so these are what is called, and moved where the case asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from opperf.child.backends.call import Adapt, Binding, Missing, call, composed
from opperf.child.backends.numpy.functions import generator
from opperf.domain.backend import Unsupported

#: Draws an array of a shape; made of the dtype of a case before anything is timed.
Draw = Callable[[Any], Any]


def random_uniform(draw: Draw, shape: Any, low: float, high: float) -> Any:
    """Return numbers from [low, high)."""
    return _moved(draw(shape), high - low, low)


def random_normal(draw: Draw, shape: Any, mean: float, std: float) -> Any:
    """Return numbers from a normal distribution."""
    return _moved(draw(shape), std, mean)


def random_bernoulli(draw_into: tuple[Draw, Any], shape: Any, probability: float) -> Any:
    """Return ones with a probability, else zeros, of the dtype beside what draws the chances."""
    draw, dtype = draw_into
    return np.less(draw(shape), probability).astype(dtype)


def _moved(drawn: Any, scale: float, shift: float) -> Any:
    """Scale and shift in place; what changes nothing is left out."""
    if scale != 1.0:
        drawn *= scale
    if shift != 0.0:
        drawn += shift
    return drawn


def drawing(method: str) -> Adapt:
    """Return what makes of a dtype a method of a new generator that draws it."""

    def draw(dtype: Any) -> Draw:
        if dtype not in (np.float32, np.float64):
            raise Unsupported(
                f"NumPy draws float32 and float64, not {np.dtype(dtype).name}",
                slug="no_such_dtype",
                hint="measure it in float32, and `cast` apart",
            )
        return partial(getattr(generator(), method), dtype=dtype)

    return draw


def drawing_chances(dtype: Any) -> tuple[Draw, Any]:
    """Return what draws the chances, always as float32, and the dtype of the result."""
    return partial(generator().random, dtype=np.float32), dtype


def random_poisson(drawn: tuple[Any, Any], shape: Any, rate: float) -> Any:
    """Return counts of rare events."""
    numbers, dtype = drawn
    return numbers.poisson(rate, shape).astype(dtype)


def random_exponential(draw: Draw, shape: Any, scale: float) -> Any:
    """Return times between rare events."""
    return _moved(draw(shape), scale, 0.0)


def random_gamma(drawn: tuple[Any, Any], shape: Any, alpha: float, scale: float) -> Any:
    """Return numbers from a gamma distribution."""
    numbers, dtype = drawn
    return numbers.gamma(alpha, scale, shape).astype(dtype)


def random_negative_binomial(drawn: tuple[Any, Any], shape: Any, successes: int, probability: float) -> Any:
    """Return counts of failures."""
    numbers, dtype = drawn
    return numbers.negative_binomial(successes, probability, shape).astype(dtype)


def _with_generator(dtype: Any) -> tuple[Any, Any]:
    return generator(), dtype


COUNTS: dict[str, Adapt] = {"dtype": _with_generator}

BINDINGS: dict[str, Binding] = {
    "random_uniform": composed(
        random_uniform,
        "draw=dtype, shape=shape, low=low, high=high",
        adapt={"dtype": drawing("random")},
        note="numpy.random.Generator.random, scaled and shifted in place where it is not [0, 1)",
    ),
    "random_normal": composed(
        random_normal,
        "draw=dtype, shape=shape, mean=mean, std=std",
        adapt={"dtype": drawing("standard_normal")},
        note="numpy.random.Generator.standard_normal, scaled and shifted in place where it is not (0, 1)",
    ),
    "random_integers": call("numpy.random.Generator.integers", "low, high", "size=shape, dtype=dtype"),
    "random_bernoulli": composed(
        random_bernoulli,
        "draw_into=dtype, shape=shape, probability=probability",
        adapt={"dtype": drawing_chances},
        note="numpy.random.Generator.random in float32, numpy.less and astype",
    ),
    "random_poisson": composed(
        random_poisson, "dtype, shape, rate", adapt=COUNTS, note="numpy.random.Generator.poisson and astype"
    ),
    "random_exponential": composed(
        random_exponential,
        "draw=dtype, shape=shape, scale=scale",
        adapt={"dtype": drawing("standard_exponential")},
        note="numpy.random.Generator.standard_exponential, scaled in place",
    ),
    "random_gamma": composed(
        random_gamma, "dtype, shape, alpha, scale", adapt=COUNTS, note="numpy.random.Generator.gamma and astype"
    ),
    "random_negative_binomial": composed(
        random_negative_binomial,
        "dtype, shape, successes, probability",
        adapt=COUNTS,
        note="numpy.random.Generator.negative_binomial and astype",
    ),
    "random_categorical": Missing("NumPy draws places of one row at a time, by `numpy.random.Generator.choice`"),
    "shuffle": call("numpy.random.Generator.permutation", "x=data"),
}
