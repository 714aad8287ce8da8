"""Convolutions, pooling and Fourier transforms in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.binding import Binding, call

WINDOW = "stride=stride, padding=padding, dilation=dilation, groups=groups"


def channels(arguments: Mapping[str, Any]) -> int:
    """Return the channels of the data: depthwise is as many groups."""
    count: int = arguments["data"].shape[1]
    return count


_SPECTRAL: dict[str, Binding] = {
    name: call(f"torch.fft.{name}", "input=data") for name in ("fft", "ifft", "rfft", "irfft", "fft2", "rfft2")
}

BINDINGS: dict[str, Binding] = {
    # PyTorch's convolutions.
    **{
        name: call(f"torch.nn.functional.{name}", "input=data, weight=weight", WINDOW)
        for name in ("conv1d", "conv2d", "conv3d")
    },
    "depthwise_conv2d": call(
        "torch.nn.functional.conv2d", "input=data, weight=weight", WINDOW, derive={"groups": channels}
    ),
    **{
        name: call(
            f"torch.nn.functional.{name}", "input=data, weight=weight", f"{WINDOW}, output_padding=output_padding"
        )
        for name in ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
    },
    **{
        name: call("torch.nn.functional.conv2d", "input=data, weight=weight", WINDOW)
        for name in ("grouped_conv2d", "dilated_conv2d")
    },
    # PyTorch's pooling. Averages count padding as zeros, and a stride of None is the kernel: its defaults.
    **{
        name: call(f"torch.nn.functional.{name}", "input=data, kernel_size=kernel", "stride=stride, padding=padding")
        for name in ("max_pool1d", "avg_pool1d", "max_pool2d", "avg_pool2d", "max_pool3d", "avg_pool3d")
    },
    "global_avg_pool2d": call("torch.nn.functional.adaptive_avg_pool2d", "input=data, output_size=1"),
    "global_max_pool2d": call("torch.nn.functional.adaptive_max_pool2d", "input=data, output_size=1"),
    "global_avg_pool1d": call("torch.nn.functional.adaptive_avg_pool1d", "input=data, output_size=1"),
    "global_max_pool1d": call("torch.nn.functional.adaptive_max_pool1d", "input=data, output_size=1"),
    "global_avg_pool3d": call("torch.nn.functional.adaptive_avg_pool3d", "input=data, output_size=1"),
    "global_max_pool3d": call("torch.nn.functional.adaptive_max_pool3d", "input=data, output_size=1"),
    "adaptive_avg_pool2d": call("torch.nn.functional.adaptive_avg_pool2d", "input=data, output_size=output_size"),
    "lp_pool2d": call(
        "torch.nn.functional.lp_pool2d", "input=data, norm_type=power, kernel_size=kernel", "stride=stride"
    ),
    # PyTorch's Fourier transforms.
    **{name: call(f"torch.fft.{name}", "input=data") for name in ("fft", "ifft", "rfft", "irfft", "fft2", "rfft2")},
}
