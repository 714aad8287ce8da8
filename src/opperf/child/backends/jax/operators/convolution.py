"""Convolutions, pooling and Fourier transforms in JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from opperf.child.backends.arrays.windows import Widths, global_pools, spread, spread_argument
from opperf.child.backends.binding import Binding, Call, Missing, call, composition, functions


def both_ends(value: Widths, dimensions: int) -> list[tuple[int, int]]:
    """Return the padding (before, after) of each space dimension."""
    return [(width, width) for width in spread(value, dimensions, 0)]


def conv_transpose(
    data: Any,
    weight: Any,
    stride: Widths,
    padding: Widths,
    dilation: Widths,
    output_padding: Widths,
    groups: int | None,
) -> Any:
    """Return the convolution of the data, spread by the stride, with the flipped weight (lax's own has no groups)."""
    channels, out, *kernel = weight.shape
    parts, space = groups or 1, len(kernel)
    groups_of_weight = weight.reshape(parts, channels // parts, out, *kernel)
    kernels = groups_of_weight.swapaxes(1, 2).reshape(parts * out, channels // parts, *kernel)
    mirror = jnp.flip(kernels, tuple(range(2, 2 + space)))
    settings = (spread(padding, space, 0), spread(dilation, space, 1), spread(output_padding, space, 0))
    widths = zip(kernel, *settings, strict=True)
    ends = [(step * (size - 1) - pad, step * (size - 1) - pad + more) for size, pad, step, more in widths]
    return lax.conv_general_dilated(
        data,
        mirror,
        (1,) * space,
        ends,
        lhs_dilation=spread(stride, space, 1),
        rhs_dilation=spread(dilation, space, 1),
        feature_group_count=parts,
    )


def conv_transpose2d(*arguments: Any) -> Any:
    return conv_transpose(*arguments)


def _ends(arguments: Mapping[str, Any]) -> list[tuple[int, int]]:
    return both_ends(arguments.get("padding"), arguments["data"].ndim - 2)


def _channels(arguments: Mapping[str, Any]) -> int:
    return int(arguments["data"].shape[1])


def _convolution(**more: Callable[[Mapping[str, Any]], Any]) -> Call:
    return call(
        "jax.lax.conv_general_dilated",
        "lhs=data, rhs=weight",
        "window_strides=stride, padding=padding, rhs_dilation=dilation, feature_group_count=groups",
        derive={
            "stride": spread_argument("stride", 1),
            "padding": _ends,
            "dilation": spread_argument("dilation", 1),
            **more,
        },
    )


def _transpose(function: Callable[..., Any]) -> Call:
    return composition(
        function,
        "data, weight, stride, padding, dilation, output_padding, groups",
        note="jax.lax.conv_general_dilated over dilated data, the weight flipped",
    )


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
    return composition(function, note=f"jax.lax.reduce_window of {of}")


BINDINGS: dict[str, Binding] = {
    # Convolutions in JAX: all of them are `jax.lax.conv_general_dilated`, whose default layout is the catalog's.
    **{name: _convolution() for name in ("conv1d", "conv2d", "conv3d", "grouped_conv2d", "dilated_conv2d")},
    "depthwise_conv2d": _convolution(groups=_channels),
    "conv_transpose1d": _transpose(conv_transpose),
    "conv_transpose2d": _transpose(conv_transpose2d),
    "conv_transpose3d": _transpose(conv_transpose),
    # Pooling in JAX: `jax.lax.reduce_window`, as the layers of Flax and Haiku do it.
    #
    # The value that a window starts from is NumPy's: JAX knows the gradient of a maximum or a sum over windows only
    # where it sees that value while tracing.
    **{name: _pool(max_pool, "jax.lax.max") for name in ("max_pool1d", "max_pool2d", "max_pool3d")},
    **{name: _pool(avg_pool, "jax.lax.add, and a division") for name in ("avg_pool1d", "avg_pool2d", "avg_pool3d")},
    **global_pools("jax.numpy", "data"),
    "adaptive_avg_pool2d": Missing("JAX has no pooling over windows of several sizes"),
    "lp_pool2d": composition(lp_pool, note="a power, jax.lax.reduce_window of jax.lax.add, and a root"),
    **functions("jax.numpy.fft", {("a=data", ""): "fft ifft rfft irfft fft2 rfft2"}),
}
