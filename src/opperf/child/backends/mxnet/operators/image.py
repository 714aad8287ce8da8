"""Images and their colors in MXNet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mxnet as mx

from opperf.child.backends.arrays.operators import derivations
from opperf.child.backends.arrays.windows import spread, spread_argument
from opperf.child.backends.binding import Binding, Call, Missing, call
from opperf.child.backends.mxnet.spelling import composition

# Images in MXNet.


def grid_sample(F: Any, data: Any, grid: Any) -> Any:
    """Sample at a grid whose coordinates stand first, as MXNet wants them."""
    return F.BilinearSampler(data, F.transpose(grid, axes=(0, 3, 1, 2)))


def pixel_shuffle(F: Any, data: Any, *, factor: int) -> Any:
    """Take the channels apart and move them between the pixels; `nd.depth_to_space` takes them in another order."""
    blocks = F.reshape(data, shape=(0, -4, -1, factor * factor, 0, 0))
    blocks = F.reshape(blocks, shape=(0, 0, -4, factor, factor, 0, 0))
    pixels = F.transpose(blocks, axes=(0, 1, 4, 2, 5, 3))
    return F.reshape(pixels, shape=(0, 0, -3, -3))


def _size(place: int) -> Callable[[Mapping[str, Any]], int]:
    """Return how high (0) or wide (1) the result is, by its size or by the scale."""

    def pixels(case: Mapping[str, Any]) -> int:
        if "scale" in case:
            return int(case["scale"] * case["data"].shape[2 + place])
        return spread(case.get("size"), 2, 1)[place]

    return pixels


def _columns(case: Mapping[str, Any]) -> int:
    """Return the axis along a row of pixels, before that of the channels."""
    return int(case["data"].ndim) - 2


def _rows(case: Mapping[str, Any]) -> int:
    """Return the axis along a column of pixels."""
    return int(case["data"].ndim) - 3


def _bilinear() -> Call:
    derive = {"height": _size(0), "width": _size(1)}
    return call("nd.contrib.BilinearResize2D", "data", "height=height, width=width, align_corners=False", derive=derive)


# Colors in MXNet: operators of `nd.image` where they are right, else what is composed.
#
# Those of MXNet draw their factor between two bounds, which are equal here. Its `random_saturation` keeps the blue
# share of each pixel's gray alone, so that one is composed.


def image_to_gray(F: Any, data: Any, weights: Any) -> Any:
    return F.np.dot(data, weights)


def image_adjust_saturation(F: Any, data: Any, weights: Any, *, factor: float) -> Any:
    return data * factor + (1 - factor) * F.np.expand_dims(F.np.dot(data, weights), -1)


def image_color_jitter(
    F: Any, data: Any, weights: Any, *, brightness: float, contrast: float, saturation: float
) -> Any:
    scaled = data * brightness
    mixture = scaled * contrast + (1 - contrast) * F.np.mean(F.np.dot(scaled, weights))
    return image_adjust_saturation(F, mixture, weights, factor=saturation)


def image_adjust_hue(F: Any, data: Any, turn: Any) -> Any:
    return F.np.dot(data, turn)


def _array_like(data: Any, numbers: Any) -> Any:
    return mx.nd.array(numbers, ctx=data.context, dtype=data.dtype)


DERIVED = derivations(_array_like)
WEIGHTS = {"weights": DERIVED["weights"]}


BINDINGS: dict[str, Binding] = {
    "image_to_tensor": call("nd.image.to_tensor", "data"),
    "image_normalize": call("nd.image.normalize", "data", "mean=mean, std=deviation"),
    # nd.image.flip_left_right and its sister take one image, no batch.
    "image_flip_left_right": call("nd.flip", "data", "axis=columns", derive={"columns": _columns}),
    "image_flip_top_bottom": call("nd.flip", "data", "axis=rows", derive={"rows": _rows}),
    "image_crop": call("nd.image.crop", "data", "x=left, y=top, width=width, height=height"),
    "image_resize_bilinear": _bilinear(),
    "image_resize_nearest": Missing(
        "MXNet repeats pixels a whole number of times; `nd.image.resize` takes any size, but rounds like OpenCV"
    ),
    "upsample_nearest": call("nd.UpSampling", "data", "scale=scale, sample_type='nearest'"),
    "upsample_bilinear": _bilinear(),
    "grid_sample": composition(grid_sample, note="nd.transpose of the grid and nd.BilinearSampler"),
    "pixel_shuffle": composition(pixel_shuffle, note="nd.reshape and nd.transpose"),
    "depth_to_space": call("nd.depth_to_space", "data", "block_size=factor"),
    "space_to_depth": call("nd.space_to_depth", "data", "block_size=factor"),
    "im2col": call(
        "nd.im2col",
        "data",
        "kernel=kernel, stride=stride, dilate=dilation, pad=padding",
        derive={
            "kernel": spread_argument("kernel", 1),
            "stride": spread_argument("stride", 1),
            "dilation": spread_argument("dilation", 1),
            "padding": spread_argument("padding", 0),
        },
    ),
    "image_to_gray": composition(
        image_to_gray, derive=WEIGHTS, note="np.dot with three precomputed weights", numpy=True
    ),
    "image_adjust_brightness": call("nd.image.random_brightness", "data", "min_factor=factor, max_factor=factor"),
    "image_adjust_contrast": call("nd.image.random_contrast", "data", "min_factor=factor, max_factor=factor"),
    "image_adjust_saturation": composition(
        image_adjust_saturation,
        derive=WEIGHTS,
        note="np.dot, products and a sum: nd.image.random_saturation is wrong",
        numpy=True,
    ),
    "image_adjust_hue": composition(
        image_adjust_hue,
        derive={"turn": DERIVED["turn"]},
        note="np.dot with nine precomputed numbers; nd.image.random_hue works differently, pixel by pixel",
        numpy=True,
    ),
    "image_color_jitter": composition(
        image_color_jitter,
        derive=WEIGHTS,
        note="products, np.dot and np.mean; nd.image.random_color_jitter draws its factors and their order",
        numpy=True,
    ),
}
