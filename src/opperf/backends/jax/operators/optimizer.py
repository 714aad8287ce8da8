"""Steps of optimizers in JAX, which return a new weight: arrays never change."""

from __future__ import annotations

from typing import Any

from opperf.backends.call import Binding, composed


def sgd_update(weight: Any, gradient: Any, learning_rate: float) -> Any:
    """Return the weight after one step."""
    return weight - learning_rate * gradient


BINDINGS: dict[str, Binding] = {
    "sgd_update": composed(
        sgd_update, "weight, gradient, learning_rate", note="a product and a difference, into a new array"
    ),
}
