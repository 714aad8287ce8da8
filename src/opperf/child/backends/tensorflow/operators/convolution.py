"""Convolutions, pooling and Fourier transforms in TensorFlow.

Data and weights are in TensorFlow's own layouts, (batch, width..., channel) and (width..., in, out), as its users have
them, and laid out so before anything is timed; results are compared in the catalog's. On a CPU, TensorFlow's own
kernels take no other: only oneDNN's do, which TensorFlow turns on by itself where it finds AVX-512. Padding that is not
TensorFlow's own `SAME` or `VALID` is a `tf.pad` of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.windows import Widths, global_pools, spread
from opperf.child.backends.binding import Binding, Call, Missing, composition, functions
from opperf.domain.backend import Unsupported
from opperf.domain.call import Layout

CONVOLUTIONS = {1: tf.nn.conv1d, 2: tf.nn.conv2d, 3: tf.nn.conv3d}
TRANSPOSED = {1: tf.nn.conv1d_transpose, 2: tf.nn.conv2d_transpose, 3: tf.nn.conv3d_transpose}
MAX_POOLS = {1: tf.nn.max_pool1d, 2: tf.nn.max_pool2d, 3: tf.nn.max_pool3d}
AVG_POOLS = {1: tf.nn.avg_pool1d, 2: tf.nn.avg_pool2d, 3: tf.nn.avg_pool3d}
OWN_LAYOUT = "data, weight and result in TensorFlow's own layout, and so their gradients"
OWN_DATA = "data and result in TensorFlow's own layout, and so their gradients"


def channels_last(data: Any) -> Any:
    """Return data (batch, channel, width...) as (batch, width..., channel)."""
    return tf.transpose(data, (0, *range(2, data.shape.rank), 1))


def _channels_first(data: Any) -> Any:
    last = data.shape.rank - 1
    return tf.transpose(data, (0, last, *range(1, last)))


CHANNELS_LAST = Layout(own=channels_last, neutral=_channels_first)
#: The fields of a binding whose data are laid out before anything is timed.
OF_IMAGES: Mapping[str, Any] = {"adapt": {"data": channels_last}, "layout": CHANNELS_LAST}


def to_own_layout(weight: Any) -> Any:
    """Return a weight (out, in, width...) as (width..., in, out); of a transposed convolution, both are exchanged."""
    return tf.transpose(weight, (*range(2, weight.shape.rank), 1, 0))


def by_channel(weight: Any) -> Any:
    """Return a weight (channel, 1, width...) as (width..., channel, 1)."""
    return tf.transpose(weight, (2, 3, 0, 1))


def convolution(
    data: Any, weight: Any, stride: Widths, padding: Widths, dilation: Widths = None, groups: int | None = None
) -> Any:
    """Return the convolution of data (batch, width..., channel); the weight says how many groups there are."""
    space = data.shape.rank - 2
    steps, gaps = spread(stride, space, 1), spread(dilation, space, 1)
    data, rule = _pad_whole(data, weight.shape[:space], steps, spread(padding, space, 0), gaps)
    strides, dilations = (steps, gaps) if space < 3 else ((1, *steps, 1), (1, *gaps, 1))
    return CONVOLUTIONS[space](data, weight, strides, rule, dilations=dilations)


def depthwise(data: Any, weight: Any, stride: Widths, padding: Widths, dilation: Widths) -> Any:
    """Return each channel convolved with its own weight."""
    steps, gaps = spread(stride, 2, 1), spread(dilation, 2, 1)
    data, rule = _pad_whole(data, weight.shape[:2], steps, spread(padding, 2, 0), gaps)
    return tf.nn.depthwise_conv2d(data, weight, (1, *steps, 1), rule, dilations=gaps)


def _pad_whole(data: Any, kernel: Any, steps: Any, padding: Any, gaps: Any) -> tuple[Any, str]:
    """Return the data and the name of a padding that together are the one asked for."""
    if not any(padding):
        return data, "VALID"
    fits = all(2 * pad == gap * (size - 1) for size, pad, gap in zip(kernel, padding, gaps))
    if fits and set(steps) == {1}:
        return data, "SAME"
    return pad(data, padding, 0), "VALID"


def pad(data: Any, padding: Any, value: float) -> Any:
    """Return the data with as much of a value on both ends of each space dimension."""
    return tf.pad(data, [(0, 0), *((width, width) for width in padding), (0, 0)], constant_values=value)


def conv_transpose(
    data: Any, weight: Any, stride: Widths, padding: Widths, dilation: Widths, output_padding: Widths
) -> Any:
    """Return the transposed convolution; what is padded away is cut off the whole."""
    space = data.shape.rank - 2
    steps, cut, more = spread(stride, space, 1), spread(padding, space, 0), spread(output_padding, space, 0)
    if set(spread(dilation, space, 1)) != {1}:
        raise Unsupported("TensorFlow dilates no transposed convolution on a CPU", hint="leave out `dilation`")
    kernel = weight.shape[:space]
    sizes = [(size - 1) * step + width + end for size, step, width, end in zip(data.shape[1:-1], steps, kernel, more)]
    shape = (data.shape[0], *sizes, weight.shape[space])
    strides = steps if space < 3 else (1, *steps, 1)
    uncut = TRANSPOSED[space](data, weight, shape, strides, "VALID")
    if not any(cut):
        return uncut
    inner = (slice(None), *(slice(width, size - width) for width, size in zip(cut, sizes)), slice(None))
    return uncut[inner]


def _no_groups(groups: int | None) -> int:
    if groups not in (None, 1):
        raise Unsupported("TensorFlow's transposed convolutions have no groups", hint="leave out `groups`")
    return 1


def max_pool(data: Any, kernel: Widths, stride: Widths, padding: Widths) -> Any:
    """Return the largest value of each window."""
    size, step, ends, space = _windows(data, kernel, stride, padding)
    data = pad(data, ends, data.dtype.min) if any(ends) else data
    return MAX_POOLS[space](data, size, step, "VALID")


def avg_pool(data: Any, kernel: Widths, stride: Widths, padding: Widths) -> Any:
    """Return the mean of each window, padding as zeros."""
    size, step, ends, space = _windows(data, kernel, stride, padding)
    data = pad(data, ends, 0) if any(ends) else data
    return AVG_POOLS[space](data, size, step, "VALID")


def lp_pool(data: Any, kernel: Widths, stride: Widths, power: int) -> Any:
    """Return the root of the sum of powers of each window."""
    count = prod(spread(kernel, data.shape.rank - 2, 1))
    return tf.pow(avg_pool(tf.pow(data, float(power)), kernel, stride, 0) * count, 1 / power)


def _windows(data: Any, kernel: Widths, stride: Widths, padding: Widths) -> tuple[Any, Any, Any, int]:
    space = data.shape.rank - 2
    size = spread(kernel, space, 1)
    return size, size if stride is None else spread(stride, space, 1), spread(padding, space, 0), space


def _convolve(function: Callable[..., Any], of: str, layout: Callable[[Any], Any], more: str = "") -> Call:
    return composition(
        function,
        f"data, weight, stride, padding, dilation{more}",
        adapt={"data": channels_last, "weight": layout},
        layout=CHANNELS_LAST,
        note=f"{of}, {OWN_LAYOUT}; tf.pad where the padding is not its own",
    )


def _transpose(space: int) -> Call:
    return composition(
        conv_transpose,
        adapt={"data": channels_last, "weight": to_own_layout, "groups": _no_groups},
        layout=CHANNELS_LAST,
        note=f"tf.nn.conv{space}d_transpose, {OWN_LAYOUT}",
    )


def _pool(function: Callable[..., Any], of: str) -> Call:
    note = f"{of}, {OWN_DATA}; tf.pad where it is padded"
    return composition(function, note=note, **OF_IMAGES)


BINDINGS: dict[str, Binding] = {
    **{
        name: _convolve(convolution, f"tf.nn.conv{space}d", to_own_layout, ", groups")
        for name, space in {"conv1d": 1, "conv2d": 2, "conv3d": 3, "grouped_conv2d": 2, "dilated_conv2d": 2}.items()
    },
    "depthwise_conv2d": _convolve(depthwise, "tf.nn.depthwise_conv2d", by_channel),
    **{f"conv_transpose{space}d": _transpose(space) for space in (1, 2, 3)},
    # Pooling in TensorFlow.
    **{f"max_pool{space}d": _pool(max_pool, f"tf.nn.max_pool{space}d") for space in (1, 2, 3)},
    **{f"avg_pool{space}d": _pool(avg_pool, f"tf.nn.avg_pool{space}d") for space in (1, 2, 3)},
    **global_pools("tf", "data", "reduce_mean", "reduce_max"),
    "adaptive_avg_pool2d": Missing("TensorFlow has no pooling over windows of several sizes"),
    "lp_pool2d": composition(
        lp_pool,
        note=f"tf.pow, tf.nn.avg_pool2d, a product, tf.pow, {OWN_DATA}",
        **OF_IMAGES,
    ),
    # Fourier transforms in TensorFlow.
    **functions("tf.signal", {("data", ""): "fft ifft rfft irfft fft2=fft2d rfft2=rfft2d"}),
}
