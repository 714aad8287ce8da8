"""Convolutions, pooling and Fourier transforms in NumPy."""

from __future__ import annotations

from opperf.child.backends.arrays.windows import global_pools
from opperf.child.backends.binding import Binding, functions, gaps

BINDINGS: dict[str, Binding] = {
    # Convolutions in NumPy: there are none.
    **gaps("`numpy.convolve` takes two plain sequences, with neither channels nor batches", "conv1d"),
    **gaps("NumPy has no convolution over images", "conv2d depthwise_conv2d grouped_conv2d dilated_conv2d"),
    **gaps("NumPy has no convolution over volumes", "conv3d"),
    **gaps("NumPy has no convolution with channels or batches, and so no transposed one", "conv_transpose1d"),
    **gaps("NumPy has no convolution over images, and so no transposed one", "conv_transpose2d"),
    **gaps("NumPy has no convolution over volumes, and so no transposed one", "conv_transpose3d"),
    # Pooling in NumPy: there is none over windows; over whole images it is a reduction.
    **gaps(
        "NumPy has no pooling over windows",
        "max_pool1d avg_pool1d max_pool2d avg_pool2d max_pool3d avg_pool3d adaptive_avg_pool2d lp_pool2d",
    ),
    **global_pools("numpy", "a=data"),
    **functions("numpy.fft", {("a=data", ""): "fft ifft rfft irfft fft2 rfft2"}),
}
