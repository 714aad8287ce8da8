"""Dropout, which NumPy users write as a random mask and two products."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, composed
from opperf.child.backends.numpy.functions import generator


def dropout(data: Any, chance: tuple[float, np.random.Generator], training: bool | None) -> Any:
    """Return zeros with the probability `rate`, the rest scaled up; the input itself when not training."""
    rate, draws = chance
    if training is False or rate == 0:
        return data
    if rate >= 1:
        return np.zeros_like(data)
    kept = data * (draws.random(data.shape, dtype=np.float32) >= rate)
    kept *= 1.0 / (1.0 - rate)
    return kept


def with_generator(rate: float) -> tuple[float, np.random.Generator]:
    """Return the rate beside a generator, which is made once for a bound call."""
    return rate, generator()


BINDINGS: dict[str, Binding] = {
    "dropout": composed(
        dropout,
        "data, chance=rate, training=training",
        adapt={"rate": with_generator},
        note="numpy.random.Generator.random in float32, numpy.greater_equal and numpy.multiply twice",
    ),
}
