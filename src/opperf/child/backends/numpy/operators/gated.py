"""Gated activations, which NumPy users write with a function or a few."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, composed
from opperf.child.backends.numpy.operators.activation import gelu


def glu(data: Any) -> Any:
    """Return the first half times the sigmoid of the second."""
    first, second = np.split(data, 2, axis=-1)
    return first / (1.0 + np.exp(-second))


def reglu(data: Any) -> Any:
    """Return the first half times the second where that is positive."""
    first, second = np.split(data, 2, axis=-1)
    return first * np.maximum(second, 0)


def swiglu(data: Any) -> Any:
    """Return the first half times the second times its sigmoid."""
    first, second = np.split(data, 2, axis=-1)
    return first * second / (1.0 + np.exp(-second))


def geglu(data: Any, approximate: str | None) -> Any:
    """Return the first half times the gelu of the second, by its approximation with tanh."""
    first, second = np.split(data, 2, axis=-1)
    return first * gelu(second, approximate)


BINDINGS: dict[str, Binding] = {
    "glu": composed(glu, "data", note="numpy.split, numpy.exp and arithmetic"),
    "reglu": composed(reglu, "data", note="numpy.split, numpy.maximum and numpy.multiply"),
    "swiglu": composed(swiglu, "data", note="numpy.split, numpy.exp and arithmetic"),
    "geglu": composed(geglu, "data, approximate", note="numpy.split, numpy.tanh and arithmetic"),
}
