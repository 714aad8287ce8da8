"""Pooling in JAX: `jax.lax.reduce_window`, as the layers of Flax and Haiku do it.

The value that a window starts from is NumPy's: JAX knows the gradient of a maximum or a sum over windows only where it
sees that value while tracing.
"""

from __future__ import annotations

from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from opperf.child.backends.call import Binding, Call, Missing, call, composed
from opperf.child.backends.jax.operators.convolution import Widths, both_ends, spread


def max_pool(data: Any, kernel: Widths, stride: Widths, padding: Widths) -> Any:
    """Return the largest value of each window."""
    least = -jnp.inf if jnp.issubdtype(data.dtype, jnp.inexact) else jnp.iinfo(data.dtype).min
    return lax.reduce_window(data, np.array(least, data.dtype), lax.max, *_windows(data, kernel, stride, padding))


def avg_pool(data: Any, kernel: Widths, stride: Widths, padding: Widths) -> Any:
    """Return the mean of each window, padding as zeros."""
    windows = _windows(data, kernel, stride, padding)
    return lax.reduce_window(data, np.array(0, data.dtype), lax.add, *windows) / prod(windows[0])


def lp_pool(data: Any, kernel: Widths, stride: Widths, power: int) -> Any:
    """Return the root of the sum of powers of each window."""
    windows = _windows(data, kernel, stride, 0)
    return lax.reduce_window(data**power, np.array(0, data.dtype), lax.add, *windows) ** (1 / power)


def _windows(data: Any, kernel: Widths, stride: Widths, padding: Widths) -> tuple[Any, Any, Any]:
    """Return size, step and padding of the windows in every dimension of the data."""
    space = data.ndim - 2
    size = spread(kernel, space, 1)
    step = size if stride is None else spread(stride, space, 1)
    return (1, 1, *size), (1, 1, *step), [(0, 0), (0, 0), *both_ends(padding, space)]


def _pool(function: Any, of: str) -> Call:
    return composed(function, "data, kernel, stride, padding", note=f"jax.lax.reduce_window of {of}")


BINDINGS: dict[str, Binding] = {
    "max_pool1d": _pool(max_pool, "jax.lax.max"),
    "max_pool2d": _pool(max_pool, "jax.lax.max"),
    "avg_pool1d": _pool(avg_pool, "jax.lax.add, and a division"),
    "avg_pool2d": _pool(avg_pool, "jax.lax.add, and a division"),
    "global_avg_pool2d": call("jax.numpy.mean", "data", "axis=(2, 3), keepdims=True"),
    "global_max_pool2d": call("jax.numpy.max", "data", "axis=(2, 3), keepdims=True"),
    "max_pool3d": _pool(max_pool, "jax.lax.max"),
    "avg_pool3d": _pool(avg_pool, "jax.lax.add, and a division"),
    "global_avg_pool1d": call("jax.numpy.mean", "data", "axis=2, keepdims=True"),
    "global_max_pool1d": call("jax.numpy.max", "data", "axis=2, keepdims=True"),
    "global_avg_pool3d": call("jax.numpy.mean", "data", "axis=(2, 3, 4), keepdims=True"),
    "global_max_pool3d": call("jax.numpy.max", "data", "axis=(2, 3, 4), keepdims=True"),
    "adaptive_avg_pool2d": Missing("JAX has no pooling over windows of several sizes"),
    "lp_pool2d": composed(
        lp_pool, "data, kernel, stride, power", note="a power, jax.lax.reduce_window of jax.lax.add, and a root"
    ),
}
