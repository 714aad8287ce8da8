"""Images and their colors in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from opperf.child.backends.arrays.operators import CHANGES, change, moves, normalization
from opperf.child.backends.binding import Binding, Call, call, compositions, parameters


def crop(arguments: Mapping[str, Any]) -> tuple[slice, ...]:
    """Return the slices of `data[:, top:..., left:...]`."""
    top, left = arguments["top"], arguments["left"]
    return slice(None), slice(top, top + arguments["height"]), slice(left, left + arguments["width"])


INTERPOLATE = "torch.nn.functional.interpolate"


def _array_like(data: Any, numbers: Any) -> Any:
    return torch.tensor(numbers, dtype=data.dtype, device=data.device)


BINDINGS: dict[str, Binding] = {
    # Images in PyTorch: what `torch.nn.functional` has, and what image libraries compose.
    "image_normalize": normalization(
        _array_like, "a difference and a division; mean and deviation are precomputed tensors"
    ),
    **moves(torch.permute, "torch.permute"),  # of which PyTorch has the last itself
    "image_flip_left_right": call("torch.flip", "input=data", "dims=(-2,)"),
    "image_flip_top_bottom": call("torch.flip", "input=data", "dims=(-3,)"),
    "image_crop": Call(
        "torch.Tensor.__getitem__",
        parameters("data, slices"),
        function=torch.Tensor.__getitem__,
        derive={"slices": crop},
        note="indexing with slices, a view",
    ),
    "image_resize_bilinear": call(INTERPOLATE, "input=data", "size=size, mode='bilinear', align_corners=False"),
    "image_resize_nearest": call(INTERPOLATE, "input=data", "size=size, mode='nearest-exact'"),
    "upsample_nearest": call(INTERPOLATE, "input=data", "scale_factor=scale, mode='nearest'"),
    "upsample_bilinear": call(INTERPOLATE, "input=data", "scale_factor=scale, mode='bilinear', align_corners=False"),
    "grid_sample": call(
        "torch.nn.functional.grid_sample",
        "input=data, grid=grid",
        "mode='bilinear', padding_mode='zeros', align_corners=True",
    ),
    "pixel_shuffle": call("torch.nn.functional.pixel_shuffle", "input=data, upscale_factor=factor"),
    "im2col": call(
        "torch.nn.functional.unfold",
        "input=data, kernel_size=kernel",
        "stride=stride, padding=padding, dilation=dilation",
    ),
    **compositions(
        image_to_tensor=(
            lambda data: data.permute(0, 3, 1, 2).contiguous().to(torch.float32).div(255),
            "torch.permute, torch.Tensor.contiguous, a cast and a division",
        ),
    ),
    # Colors in PyTorch: a few functions for each.
    **{name: change(name, _array_like) for name in CHANGES},
}
