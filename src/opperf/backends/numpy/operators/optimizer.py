"""Steps of optimizers, written in NumPy in place: the weight and the states change, and the weight is returned."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.backends.call import Binding, composed


def sgd_update(weight: Any, gradient: Any, learning_rate: float) -> Any:
    """Take `learning_rate` times the gradient from the weight, in place, and return the weight."""
    return np.subtract(weight, learning_rate * gradient, out=weight)


def sgd_momentum_update(weight: Any, gradient: Any, velocity: Any, learning_rate: float, momentum: float) -> Any:
    """Take a step along the velocity."""
    _faster(gradient, velocity, learning_rate, momentum)
    return np.add(weight, velocity, out=weight)


def nag_update(weight: Any, gradient: Any, velocity: Any, learning_rate: float, momentum: float) -> Any:
    """Take the next step along the velocity, too."""
    _faster(gradient, velocity, learning_rate, momentum)
    return np.add(weight, momentum * velocity - learning_rate * gradient, out=weight)


def signsgd_update(weight: Any, gradient: Any, learning_rate: float) -> Any:
    """Take a step of one length in each direction."""
    return np.subtract(weight, learning_rate * np.sign(gradient), out=weight)


def adam_update(
    weight: Any,
    gradient: Any,
    mean: Any,
    variance: Any,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Any:
    """Divide the moving mean by the root of that of squares."""
    _average(mean, gradient, beta1)
    _average(variance, np.square(gradient), beta2)
    return np.subtract(weight, learning_rate * mean / (np.sqrt(variance) + epsilon), out=weight)


def adamw_update(
    weight: Any,
    gradient: Any,
    mean: Any,
    variance: Any,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
) -> Any:
    """Shrink the weight before the step."""
    np.multiply(weight, 1 - learning_rate * weight_decay, out=weight)
    return adam_update(weight, gradient, mean, variance, learning_rate, beta1, beta2, epsilon)


def rmsprop_update(weight: Any, gradient: Any, squares: Any, learning_rate: float, rho: float, epsilon: float) -> Any:
    """Divide by the root of the moving mean of squares."""
    _average(squares, np.square(gradient), rho)
    return np.subtract(weight, learning_rate * gradient / np.sqrt(squares + epsilon), out=weight)


def adagrad_update(weight: Any, gradient: Any, squares: Any, learning_rate: float, epsilon: float) -> Any:
    """Divide by the root of the sum of squares."""
    np.add(squares, np.square(gradient), out=squares)
    return np.subtract(weight, learning_rate * gradient / (np.sqrt(squares) + epsilon), out=weight)


def adadelta_update(
    weight: Any, gradient: Any, squares: Any, steps: Any, learning_rate: float, rho: float, epsilon: float
) -> Any:
    """Scale the step by the steps before it."""
    _average(squares, np.square(gradient), rho)
    step = gradient * np.sqrt((steps + epsilon) / (squares + epsilon))
    _average(steps, np.square(step), rho)
    return np.subtract(weight, learning_rate * step, out=weight)


def ftrl_update(
    weight: Any, gradient: Any, sums: Any, squares: Any, learning_rate: float, l1: float, beta: float
) -> Any:
    """Follow the regularized leader."""
    before = np.sqrt(squares)
    np.add(squares, np.square(gradient), out=squares)
    root = np.sqrt(squares)
    np.add(sums, gradient - weight * (root - before) / learning_rate, out=sums)
    moved = (l1 * np.sign(sums) - sums) * learning_rate / (beta + root)
    return np.multiply(moved, np.abs(sums) > l1, out=weight)


def lamb_update(
    weight: Any,
    gradient: Any,
    mean: Any,
    variance: Any,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
) -> Any:
    """Scale the step to the length of the weight."""
    _average(mean, gradient, beta1)
    _average(variance, np.square(gradient), beta2)
    step = mean / (np.sqrt(variance) + epsilon) + weight_decay * weight
    return np.subtract(weight, learning_rate * np.linalg.norm(weight) / np.linalg.norm(step) * step, out=weight)


def _faster(gradient: Any, velocity: Any, learning_rate: float, momentum: float) -> None:
    np.multiply(velocity, momentum, out=velocity)
    np.subtract(velocity, learning_rate * gradient, out=velocity)


def _average(kept: Any, given: Any, share: float) -> None:
    """Move what is kept towards what is given, in place."""
    np.multiply(kept, share, out=kept)
    np.add(kept, (1 - share) * given, out=kept)


MEANS = "weight, gradient, mean, variance, learning_rate, beta1, beta2, epsilon"
ROOTS = "numpy.square, numpy.sqrt and arithmetic"

BINDINGS: dict[str, Binding] = {
    "sgd_update": composed(
        sgd_update, "weight, gradient, learning_rate", note="numpy.multiply, and numpy.subtract into the weight"
    ),
    **{
        function.__name__: composed(function, arguments, note=f"{of}, in place")
        for function, arguments, of in (
            (sgd_momentum_update, "weight, gradient, velocity, learning_rate, momentum", "products and sums"),
            (nag_update, "weight, gradient, velocity, learning_rate, momentum", "products and sums"),
            (signsgd_update, "weight, gradient, learning_rate", "numpy.sign, a product and a difference"),
            (adam_update, MEANS, ROOTS),
            (adamw_update, f"{MEANS}, weight_decay", ROOTS),
            (rmsprop_update, "weight, gradient, squares, learning_rate, rho, epsilon", ROOTS),
            (adagrad_update, "weight, gradient, squares, learning_rate, epsilon", ROOTS),
            (adadelta_update, "weight, gradient, squares, steps, learning_rate, rho, epsilon", ROOTS),
            (ftrl_update, "weight, gradient, sums, squares, learning_rate, l1, beta", f"numpy.sign, {ROOTS}"),
            (lamb_update, f"{MEANS}, weight_decay", f"numpy.linalg.norm, {ROOTS}"),
        )
    },
}
