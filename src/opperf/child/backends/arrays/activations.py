"""Activations made of functions that many libraries have by the same names, written once for all of them.

A row says what a user of such a library writes, and of which functions it is made; each library takes the rows whose
functions it has. Where it has a function for an activation, its own file binds that instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from opperf.child.backends.binding import Binding, compositions
from opperf.domain.backend import Unsupported

#: Of selu, for which the mean and the variance of a normal distribution are fixed points.
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
#: Of gelu's approximation: the square root of 2 / pi, and the factor of the cube.
GELU_SCALE, GELU_CUBE = 0.7978845608028654, 0.044715


def activations(xp: Any) -> Mapping[str, tuple[Callable[..., Any], str]]:
    """Return the activations by the functions of `xp`, each with the names of those functions."""

    def sigmoid(data: Any) -> Any:
        return 1.0 / (1.0 + xp.exp(-data))

    def gelu(data: Any, approximate: str | None) -> Any:
        if approximate != "tanh":
            raise Unsupported(
                "gelu without approximation needs the error function, "
                "which NumPy and the array API standard do not have",
                slug="no_such_operator",
                hint="use `--attribute approximate=tanh`",
            )
        return 0.5 * data * (1.0 + xp.tanh(GELU_SCALE * (data + GELU_CUBE * data * data * data)))

    def elu(data: Any, alpha: float) -> Any:
        return xp.where(data > 0, data, alpha * xp.expm1(xp.minimum(data, 0.0)))

    def hard_sigmoid(data: Any) -> Any:
        return xp.clip(data / 6.0 + 0.5, 0.0, 1.0)

    return {
        "sigmoid": (sigmoid, "exp"),
        "gelu": (gelu, "tanh"),
        "silu": (lambda data: data / (1.0 + xp.exp(-data)), "exp"),
        "mish": (lambda data: data * xp.tanh(xp.logaddexp(data, 0.0)), "logaddexp tanh"),
        "leaky_relu": (lambda data, slope: xp.where(data > 0, data, slope * data), "where"),
        "elu": (elu, "where expm1 minimum"),
        "selu": (lambda data: SELU_SCALE * elu(data, SELU_ALPHA), "where expm1 minimum"),
        "softsign": (lambda data: data / (1.0 + xp.abs(data)), "abs"),
        "log_sigmoid": (lambda data: -xp.logaddexp(-data, 0.0), "logaddexp"),
        "hard_sigmoid": (hard_sigmoid, "clip"),
        "hard_swish": (lambda data: data * hard_sigmoid(data), "clip"),
    }


def bindings(xp: Any, prefix: str) -> dict[str, Binding]:
    """Return the bindings of the activations whose functions `xp` has, which its users call by `prefix`."""
    rows = {
        name: (function, f"{', '.join(f'{prefix}.{word}' for word in needs.split())} and arithmetic")
        for name, (function, needs) in activations(xp).items()
        if all(hasattr(xp, word) for word in needs.split())
    }
    return compositions(**rows)
