"""Convolutions, pooling and Fourier transforms in NumPy."""

from __future__ import annotations

from opperf.child.backends.binding import Binding, Missing, call

IMAGES = Missing("NumPy has no convolution over images")


WINDOWS = Missing("NumPy has no pooling over windows")
SPACE = "axis=(2, 3), keepdims=True"


_SPECTRAL: dict[str, Binding] = {
    name: call(f"numpy.fft.{name}", "a=data") for name in ("fft", "ifft", "rfft", "irfft", "fft2", "rfft2")
}


BINDINGS: dict[str, Binding] = {
    # Convolutions in NumPy: there are none.
    "conv1d": Missing("`numpy.convolve` takes two plain sequences, with neither channels nor batches"),
    "conv2d": IMAGES,
    "conv3d": Missing("NumPy has no convolution over volumes"),
    "depthwise_conv2d": IMAGES,
    "conv_transpose2d": Missing("NumPy has no convolution over images, and so no transposed one"),
    "grouped_conv2d": IMAGES,
    "dilated_conv2d": IMAGES,
    "conv_transpose1d": Missing("NumPy has no convolution with channels or batches, and so no transposed one"),
    "conv_transpose3d": Missing("NumPy has no convolution over volumes, and so no transposed one"),
    # Pooling in NumPy: there is none over windows; over whole images it is a reduction.
    "max_pool1d": WINDOWS,
    "avg_pool1d": WINDOWS,
    "max_pool2d": WINDOWS,
    "avg_pool2d": WINDOWS,
    "global_avg_pool2d": call("numpy.mean", "a=data", SPACE),
    "global_max_pool2d": call("numpy.max", "a=data", SPACE),
    "max_pool3d": WINDOWS,
    "avg_pool3d": WINDOWS,
    "global_avg_pool1d": call("numpy.mean", "a=data", "axis=2, keepdims=True"),
    "global_max_pool1d": call("numpy.max", "a=data", "axis=2, keepdims=True"),
    "global_avg_pool3d": call("numpy.mean", "a=data", "axis=(2, 3, 4), keepdims=True"),
    "global_max_pool3d": call("numpy.max", "a=data", "axis=(2, 3, 4), keepdims=True"),
    "adaptive_avg_pool2d": WINDOWS,
    "lp_pool2d": WINDOWS,
    **_SPECTRAL,
}
