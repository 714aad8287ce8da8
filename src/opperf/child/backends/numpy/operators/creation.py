"""Creation of arrays: constants, random numbers and initial weights in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from opperf.child.backends.binding import Adapt, Binding, Call, composition, functions, gaps
from opperf.child.backends.numpy.functions import generator
from opperf.domain.backend import Unsupported

#: Draws an array of a shape; made of the dtype of a case before anything is timed.
Draw = Callable[[Any], Any]


def random_uniform(draw: Draw, shape: Any, low: float, high: float) -> Any:
    return _move(draw(shape), high - low, low)


def random_normal(draw: Draw, shape: Any, mean: float, std: float) -> Any:
    return _move(draw(shape), std, mean)


def random_bernoulli(draw_into: tuple[Draw, Any], shape: Any, probability: float) -> Any:
    draw, dtype = draw_into
    return np.less(draw(shape), probability).astype(dtype)


def _move(sample: Any, scale: float, shift: float) -> Any:
    """Scale and shift in place; what changes nothing is left out."""
    if scale != 1.0:
        sample *= scale
    if shift != 0.0:
        sample += shift
    return sample


def drawing(method: str) -> Adapt:
    """Return a function that makes of a dtype a method of a new generator that draws it."""

    def draw(dtype: Any) -> Draw:
        if dtype not in (np.float32, np.float64):
            raise Unsupported(
                f"NumPy draws float32 and float64, not {np.dtype(dtype).name}",
                slug="no_such_dtype",
                hint="measure it in float32, and `cast` separately",
            )
        return partial(getattr(generator(), method), dtype=dtype)

    return draw


def drawing_chances(dtype: Any) -> tuple[Draw, Any]:
    """Return a method that draws the chances, always as float32, and the dtype of the result."""
    return partial(generator().random, dtype=np.float32), dtype


def random_poisson(sample: tuple[Any, Any], shape: Any, rate: float) -> Any:
    numbers, dtype = sample
    return numbers.poisson(rate, shape).astype(dtype)


def random_exponential(draw: Draw, shape: Any, scale: float) -> Any:
    return _move(draw(shape), scale, 0.0)


def random_gamma(sample: tuple[Any, Any], shape: Any, alpha: float, scale: float) -> Any:
    numbers, dtype = sample
    return numbers.gamma(alpha, scale, shape).astype(dtype)


def random_negative_binomial(sample: tuple[Any, Any], shape: Any, successes: int, probability: float) -> Any:
    numbers, dtype = sample
    return numbers.negative_binomial(successes, probability, shape).astype(dtype)


def _with_generator(dtype: Any) -> tuple[Any, Any]:
    return generator(), dtype


COUNTS: dict[str, Adapt] = {"dtype": _with_generator}


def _weights(name: str, variance: Callable[[int, int], float], *, uniform: bool = False) -> Call:
    """Write down weights of a variance by their inputs and outputs, normal ones or those between bounds."""

    def weights(draw: Draw, shape: Any) -> Any:
        deviation, sample = variance(shape[1], shape[0]) ** 0.5, draw(shape)
        if not uniform:
            sample *= deviation
            return sample
        bound = 3**0.5 * deviation
        sample *= 2 * bound
        sample -= bound
        return sample

    method, more = ("random", "scaled and shifted") if uniform else ("standard_normal", "scaled")
    return _initializer(name, weights, method, f"{more} in place")


def _initializer(name: str, function: Callable[..., Any], method: str, more: str) -> Call:
    function.__name__ = name
    note = f"numpy.random.Generator.{method}, {more}"
    return composition(function, "draw=dtype, shape=shape", adapt={"dtype": drawing(method)}, note=note)


def orthogonal(draw: Draw, shape: Any) -> Any:
    rows, columns = shape
    sample = draw(shape if rows >= columns else (columns, rows))
    directions, upper = np.linalg.qr(sample)
    directions *= np.sign(np.diagonal(upper))
    return directions if rows >= columns else directions.T


BINDINGS: dict[str, Binding] = {
    # NumPy's arrays of known values.
    **functions(
        "numpy",
        {
            ("shape, dtype", ""): "zeros ones",
            ("shape=shape, fill_value=value, dtype=dtype", ""): "full",
            ("a=data", ""): "zeros_like ones_like",
            ("a=data, fill_value=value", ""): "full_like",
            ("start, stop, step", "dtype=dtype"): "arange",
            ("start=start, stop=stop, num=count", "dtype=dtype"): "linspace",
            ("N=rows, M=columns", "dtype=dtype"): "eye",
            ("low, high", "size=shape, dtype=dtype"): "random_integers=random.Generator.integers",
            ("x=data", ""): "shuffle=random.Generator.permutation",
        },
    ),
    # Numbers drawn in NumPy by methods of `numpy.random.Generator`.
    #
    # One generator, seeded, is made for each call that is bound, never within the time. `uniform` and `normal` draw
    # float64 only, `random` and `standard_normal` float32 too, so these are what is called, and moved where the case
    # asks for it.
    "random_uniform": composition(
        random_uniform,
        "draw=dtype, shape=shape, low=low, high=high",
        adapt={"dtype": drawing("random")},
        note="numpy.random.Generator.random, scaled and shifted in place where it is not [0, 1)",
    ),
    "random_normal": composition(
        random_normal,
        "draw=dtype, shape=shape, mean=mean, std=std",
        adapt={"dtype": drawing("standard_normal")},
        note="numpy.random.Generator.standard_normal, scaled and shifted in place where it is not (0, 1)",
    ),
    "random_bernoulli": composition(
        random_bernoulli,
        "draw_into=dtype, shape=shape, probability=probability",
        adapt={"dtype": drawing_chances},
        note="numpy.random.Generator.random in float32, numpy.less and astype",
    ),
    "random_poisson": composition(
        random_poisson, "dtype, shape, rate", adapt=COUNTS, note="numpy.random.Generator.poisson and astype"
    ),
    "random_exponential": composition(
        random_exponential,
        "draw=dtype, shape=shape, scale=scale",
        adapt={"dtype": drawing("standard_exponential")},
        note="numpy.random.Generator.standard_exponential, scaled in place",
    ),
    "random_gamma": composition(
        random_gamma, "dtype, shape, alpha, scale", adapt=COUNTS, note="numpy.random.Generator.gamma and astype"
    ),
    "random_negative_binomial": composition(
        random_negative_binomial,
        "dtype, shape, successes, probability",
        adapt=COUNTS,
        note="numpy.random.Generator.negative_binomial and astype",
    ),
    **gaps("NumPy samples one row at a time, with `numpy.random.Generator.choice`", "random_categorical"),
    # Weights in NumPy: numbers of a generator, scaled in place; see `random`.
    **gaps("NumPy draws no truncated normal; `scipy.stats.truncnorm` does", "truncated_normal"),
    "xavier_uniform": _weights("xavier_uniform", lambda ins, outs: 2 / (ins + outs), uniform=True),
    "xavier_normal": _weights("xavier_normal", lambda ins, outs: 2 / (ins + outs)),
    "kaiming_uniform": _weights("kaiming_uniform", lambda ins, outs: 2 / ins, uniform=True),
    "kaiming_normal": _weights("kaiming_normal", lambda ins, outs: 2 / ins),
    "orthogonal": _initializer(
        "orthogonal", orthogonal, "standard_normal", "numpy.linalg.qr and the signs of its diagonal"
    ),
}
