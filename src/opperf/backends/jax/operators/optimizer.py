"""Steps of optimizers in JAX, which return a new weight and new states: arrays never change."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.backends.call import Binding, composed


def sgd_update(weight: Any, gradient: Any, learning_rate: float) -> Any:
    """Return the weight after one step."""
    return weight - learning_rate * gradient


def sgd_momentum_update(weight: Any, gradient: Any, velocity: Any, learning_rate: float, momentum: float) -> Any:
    """Return the weight after a step along the velocity, and the velocity."""
    velocity = momentum * velocity - learning_rate * gradient
    return weight + velocity, velocity


def nag_update(weight: Any, gradient: Any, velocity: Any, learning_rate: float, momentum: float) -> Any:
    """Return the weight after the next step along the velocity too, and the velocity."""
    velocity = momentum * velocity - learning_rate * gradient
    return weight + momentum * velocity - learning_rate * gradient, velocity


def signsgd_update(weight: Any, gradient: Any, learning_rate: float) -> Any:
    """Return the weight after a step of one length in each direction."""
    return weight - learning_rate * jnp.sign(gradient)


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
    """Return weight, moving mean and that of squares after one step."""
    mean, variance = _remembered(gradient, mean, variance, beta1, beta2)
    return weight - learning_rate * mean / (jnp.sqrt(variance) + epsilon), mean, variance


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
    """Return weight, moving mean and that of squares after one step that shrinks the weight too."""
    mean, variance = _remembered(gradient, mean, variance, beta1, beta2)
    step = mean / (jnp.sqrt(variance) + epsilon) + weight_decay * weight
    return weight - learning_rate * step, mean, variance


def rmsprop_update(weight: Any, gradient: Any, squares: Any, learning_rate: float, rho: float, epsilon: float) -> Any:
    """Return weight and moving mean of squares after one step."""
    squares = rho * squares + (1 - rho) * jnp.square(gradient)
    return weight - learning_rate * gradient / jnp.sqrt(squares + epsilon), squares


def adagrad_update(weight: Any, gradient: Any, squares: Any, learning_rate: float, epsilon: float) -> Any:
    """Return weight and sum of squares after one step."""
    squares = squares + jnp.square(gradient)
    return weight - learning_rate * gradient / (jnp.sqrt(squares) + epsilon), squares


def adadelta_update(
    weight: Any, gradient: Any, squares: Any, steps: Any, learning_rate: float, rho: float, epsilon: float
) -> Any:
    """Return weight and moving means of squares of gradients and steps after one step."""
    squares = rho * squares + (1 - rho) * jnp.square(gradient)
    step = gradient * jnp.sqrt((steps + epsilon) / (squares + epsilon))
    return weight - learning_rate * step, squares, rho * steps + (1 - rho) * jnp.square(step)


def ftrl_update(
    weight: Any, gradient: Any, sums: Any, squares: Any, learning_rate: float, l1: float, beta: float
) -> Any:
    """Return weight and both sums after one step."""
    before, squares = jnp.sqrt(squares), squares + jnp.square(gradient)
    root = jnp.sqrt(squares)
    sums = sums + gradient - weight * (root - before) / learning_rate
    moved = (l1 * jnp.sign(sums) - sums) * learning_rate / (beta + root)
    return jnp.where(jnp.abs(sums) > l1, moved, 0), sums, squares


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
    """Return weight, moving mean and that of squares after a step as long as the weight says."""
    mean, variance = _remembered(gradient, mean, variance, beta1, beta2)
    step = mean / (jnp.sqrt(variance) + epsilon) + weight_decay * weight
    scale = learning_rate * jnp.linalg.norm(weight) / jnp.linalg.norm(step)
    return weight - scale * step, mean, variance


def _remembered(gradient: Any, mean: Any, variance: Any, beta1: float, beta2: float) -> tuple[Any, Any]:
    return beta1 * mean + (1 - beta1) * gradient, beta2 * variance + (1 - beta2) * jnp.square(gradient)


MEANS = "weight, gradient, mean, variance, learning_rate, beta1, beta2, epsilon"

BINDINGS: dict[str, Binding] = {
    "sgd_update": composed(
        sgd_update, "weight, gradient, learning_rate", note="a product and a difference, into a new array"
    ),
    **{
        function.__name__: composed(function, arguments, note=f"{of}, into new arrays")
        for function, arguments, of in (
            (
                sgd_momentum_update,
                "weight, gradient, velocity, learning_rate, momentum",
                "products, sum and difference",
            ),
            (nag_update, "weight, gradient, velocity, learning_rate, momentum", "products, sums and differences"),
            (signsgd_update, "weight, gradient, learning_rate", "jax.numpy.sign, a product and a difference"),
            (adam_update, MEANS, "jax.numpy.square, sqrt and arithmetic"),
            (adamw_update, f"{MEANS}, weight_decay", "jax.numpy.square, sqrt and arithmetic"),
            (
                rmsprop_update,
                "weight, gradient, squares, learning_rate, rho, epsilon",
                "jax.numpy.square, sqrt and arithmetic",
            ),
            (
                adagrad_update,
                "weight, gradient, squares, learning_rate, epsilon",
                "jax.numpy.square, sqrt and arithmetic",
            ),
            (
                adadelta_update,
                "weight, gradient, squares, steps, learning_rate, rho, epsilon",
                "jax.numpy.square, sqrt and arithmetic",
            ),
            (
                ftrl_update,
                "weight, gradient, sums, squares, learning_rate, l1, beta",
                "jax.numpy.square, sqrt, sign, where and arithmetic",
            ),
            (lamb_update, f"{MEANS}, weight_decay", "jax.numpy.square, sqrt, linalg.norm and arithmetic"),
        )
    },
}
