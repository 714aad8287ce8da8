"""Convolutions in NumPy: there are none."""

from __future__ import annotations

from opperf.child.backends.call import Binding, Missing

IMAGES = Missing("NumPy has no convolution over images")

BINDINGS: dict[str, Binding] = {
    "conv1d": Missing("`numpy.convolve` takes two plain sequences, with neither channels nor batches"),
    "conv2d": IMAGES,
    "conv3d": Missing("NumPy has no convolution over volumes"),
    "depthwise_conv2d": IMAGES,
    "conv_transpose2d": Missing("NumPy has no convolution over images, and so no transposed one"),
    "grouped_conv2d": IMAGES,
    "dilated_conv2d": IMAGES,
    "conv_transpose1d": Missing("NumPy has no convolution with channels or batches, and so no transposed one"),
    "conv_transpose3d": Missing("NumPy has no convolution over volumes, and so no transposed one"),
}
