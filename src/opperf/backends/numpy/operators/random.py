"""Numbers drawn in NumPy by methods of `numpy.random.Generator`.

One generator, seeded, is made for each call that is bound, never within the time. `uniform` and `normal` draw float64
only, `random` and `standard_normal` float32 too, so these are what is called, and moved where the case asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from opperf.backend import Unsupported
from opperf.backends.call import Adapt, Binding, call, composed
from opperf.backends.numpy.functions import generator

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
}
