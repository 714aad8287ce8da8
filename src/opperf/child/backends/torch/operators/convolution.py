"""PyTorch's convolutions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.call import Binding, call

WINDOW = "stride=stride, padding=padding, dilation=dilation, groups=groups"


def channels(arguments: Mapping[str, Any]) -> int:
    """Return the channels of the data: depthwise is as many groups."""
    count: int = arguments["data"].shape[1]
    return count


BINDINGS: dict[str, Binding] = {
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
}
