"""Steps of optimizers, written in NumPy in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.backends.call import Binding, composed


def sgd_update(weight: Any, gradient: Any, learning_rate: float) -> Any:
    """Take `learning_rate` times the gradient from the weight, in place, and return the weight."""
    return np.subtract(weight, learning_rate * gradient, out=weight)


BINDINGS: dict[str, Binding] = {
    "sgd_update": composed(
        sgd_update, "weight, gradient, learning_rate", note="numpy.multiply, and numpy.subtract into the weight"
    ),
}
