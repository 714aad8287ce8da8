"""Weights in NumPy: numbers of a generator, scaled in place; see `random`."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, Missing, composed
from opperf.child.backends.numpy.operators.random import Draw, drawing


def xavier_uniform(draw: Draw, shape: Any) -> Any:
    """Spread by both sides."""
    return _within(draw(shape), (6 / sum(shape)) ** 0.5)


def xavier_normal(draw: Draw, shape: Any) -> Any:
    """Spread by both sides."""
    drawn = draw(shape)
    drawn *= (2 / sum(shape)) ** 0.5
    return drawn


def kaiming_uniform(draw: Draw, shape: Any) -> Any:
    """Spread by what goes in."""
    return _within(draw(shape), (6 / shape[1]) ** 0.5)


def kaiming_normal(draw: Draw, shape: Any) -> Any:
    """Spread by what goes in."""
    drawn = draw(shape)
    drawn *= (2 / shape[1]) ** 0.5
    return drawn


def orthogonal(draw: Draw, shape: Any) -> Any:
    """Decompose normal numbers, and give each column the sign that makes it evenly distributed."""
    rows, columns = shape
    drawn = draw(shape if rows >= columns else (columns, rows))
    directions, upper = np.linalg.qr(drawn)
    directions *= np.sign(np.diagonal(upper))
    return directions if rows >= columns else directions.T


def _within(drawn: Any, bound: float) -> Any:
    drawn *= 2 * bound
    drawn -= bound
    return drawn


BINDINGS: dict[str, Binding] = {
    "truncated_normal": Missing("NumPy draws no truncated normal; `scipy.stats.truncnorm` does"),
    **{
        function.__name__: composed(
            function,
            "draw=dtype, shape=shape",
            adapt={"dtype": drawing(method)},
            note=f"numpy.random.Generator.{method}{more}",
        )
        for function, method, more in (
            (xavier_uniform, "random", ", scaled and shifted in place"),
            (xavier_normal, "standard_normal", ", scaled in place"),
            (kaiming_uniform, "random", ", scaled and shifted in place"),
            (kaiming_normal, "standard_normal", ", scaled in place"),
            (orthogonal, "standard_normal", ", numpy.linalg.qr and the signs of its diagonal"),
        )
    },
}
