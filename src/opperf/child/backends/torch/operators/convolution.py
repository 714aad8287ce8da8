"""Convolutions, pooling and Fourier transforms in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.binding import Binding, call, functions

WINDOW = "stride=stride, padding=padding, dilation=dilation, groups=groups"


def channels(arguments: Mapping[str, Any]) -> int:
    """Return the channels of the data: depthwise is as many groups."""
    count: int = arguments["data"].shape[1]
    return count


BINDINGS: dict[str, Binding] = {
    # PyTorch's convolutions, and its pooling: averages count padding as zeros, and a stride of None is the kernel.
    **functions(
        "torch.nn.functional",
        {
            ("input=data, weight=weight", WINDOW): "conv1d conv2d conv3d grouped_conv2d=conv2d dilated_conv2d=conv2d",
            ("input=data, weight=weight", f"{WINDOW}, output_padding=output_padding"): (
                "conv_transpose1d conv_transpose2d conv_transpose3d"
            ),
            ("input=data, kernel_size=kernel", "stride=stride, padding=padding"): (
                "max_pool1d avg_pool1d max_pool2d avg_pool2d max_pool3d avg_pool3d"
            ),
            ("input=data, output_size=1", ""): (
                "global_avg_pool1d=adaptive_avg_pool1d global_max_pool1d=adaptive_max_pool1d "
                "global_avg_pool2d=adaptive_avg_pool2d global_max_pool2d=adaptive_max_pool2d "
                "global_avg_pool3d=adaptive_avg_pool3d global_max_pool3d=adaptive_max_pool3d"
            ),
            ("input=data, output_size=output_size", ""): "adaptive_avg_pool2d",
            ("input=data, norm_type=power, kernel_size=kernel", "stride=stride"): "lp_pool2d",
        },
    ),
    "depthwise_conv2d": call(
        "torch.nn.functional.conv2d", "input=data, weight=weight", WINDOW, derive={"groups": channels}
    ),
    **functions("torch.fft", {("input=data", ""): "fft ifft rfft irfft fft2 rfft2"}),
}
