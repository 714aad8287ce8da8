"""Weights in JAX: functions of `jax.nn.initializers`, which take a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from opperf.child.backends.call import Binding, Call, parameters
from opperf.child.backends.jax.random_key import KEY, NOTE

#: Where the sides of a shape (out, in) stand.
AXES = {"in_axis": -1, "out_axis": -2}


def truncated_normal(key: Any, shape: Any, dtype: Any, std: float) -> Any:
    """Return numbers within two deviations."""
    return jax.nn.initializers.truncated_normal(std)(key, shape, dtype)


def _initializer(name: str, function: Callable[..., Any], more: str = "") -> Call:
    return Call(
        f"composition:{name}",
        (KEY, *parameters("shape, dtype")),
        function=function,
        note=f"jax.nn.initializers.{name}{more}; {NOTE}",
    )


BINDINGS: dict[str, Binding] = {
    "xavier_uniform": _initializer("xavier_uniform", jax.nn.initializers.xavier_uniform(**AXES)),
    "xavier_normal": _initializer(
        "xavier_normal", jax.nn.initializers.xavier_normal(**AXES), ", within two deviations"
    ),
    "kaiming_uniform": _initializer("kaiming_uniform", jax.nn.initializers.kaiming_uniform(**AXES)),
    "kaiming_normal": _initializer(
        "kaiming_normal", jax.nn.initializers.kaiming_normal(**AXES), ", within two deviations"
    ),
    "truncated_normal": Call(
        "composition:truncated_normal",
        (KEY, *parameters("shape, dtype, std")),
        function=truncated_normal,
        note=f"jax.nn.initializers.truncated_normal; {NOTE}",
    ),
    "orthogonal": _initializer("orthogonal", jax.nn.initializers.orthogonal()),
}
