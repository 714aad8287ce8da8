"""Convolutions in JAX: all of them are `jax.lax.conv_general_dilated`, whose default layout is the catalog's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import jax.numpy as jnp
from jax import lax

from opperf.child.backends.call import Binding, Call, call, composed

#: One number, or one for each space dimension.
Widths: TypeAlias = int | tuple[int, ...] | None


def spread(value: Widths, dimensions: int, default: int) -> tuple[int, ...]:
    """Return one number for each space dimension."""
    value = default if value is None else value
    return (value,) * dimensions if isinstance(value, int) else tuple(value)


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
    parted = weight.reshape(parts, channels // parts, out, *kernel)
    joined = parted.swapaxes(1, 2).reshape(parts * out, channels // parts, *kernel)
    flipped = jnp.flip(joined, tuple(range(2, 2 + space)))
    settings = (spread(padding, space, 0), spread(dilation, space, 1), spread(output_padding, space, 0))
    widths = zip(kernel, *settings, strict=True)
    ends = [(step * (size - 1) - pad, step * (size - 1) - pad + more) for size, pad, step, more in widths]
    return lax.conv_general_dilated(
        data,
        flipped,
        (1,) * space,
        ends,
        lhs_dilation=spread(stride, space, 1),
        rhs_dilation=spread(dilation, space, 1),
        feature_group_count=parts,
    )


def conv_transpose2d(*arguments: Any) -> Any:
    """Return the transposed convolution of images."""
    return conv_transpose(*arguments)


def _space(made: Mapping[str, Any]) -> int:
    return int(made["data"].ndim) - 2


def _steps(made: Mapping[str, Any]) -> tuple[int, ...]:
    return spread(made.get("stride"), _space(made), 1)


def _ends(made: Mapping[str, Any]) -> list[tuple[int, int]]:
    return both_ends(made.get("padding"), _space(made))


def _spacing(made: Mapping[str, Any]) -> tuple[int, ...]:
    return spread(made.get("dilation"), _space(made), 1)


def _channels(made: Mapping[str, Any]) -> int:
    return int(made["data"].shape[1])


def _convolution(**more: Callable[[Mapping[str, Any]], Any]) -> Call:
    return call(
        "jax.lax.conv_general_dilated",
        "lhs=data, rhs=weight",
        "window_strides=stride, padding=padding, rhs_dilation=dilation, feature_group_count=groups",
        derive={"stride": _steps, "padding": _ends, "dilation": _spacing, **more},
    )


def _transposed(function: Callable[..., Any]) -> Call:
    return composed(
        function,
        "data, weight, stride, padding, dilation, output_padding, groups",
        note="jax.lax.conv_general_dilated over dilated data, the weight flipped",
    )


BINDINGS: dict[str, Binding] = {
    "conv1d": _convolution(),
    "conv2d": _convolution(),
    "conv3d": _convolution(),
    "depthwise_conv2d": _convolution(groups=_channels),
    "grouped_conv2d": _convolution(),
    "dilated_conv2d": _convolution(),
    "conv_transpose1d": _transposed(conv_transpose),
    "conv_transpose2d": _transposed(conv_transpose2d),
    "conv_transpose3d": _transposed(conv_transpose),
}
