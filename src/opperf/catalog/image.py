"""Images and their colors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from opperf.catalog.definition import FORWARD_ONLY, Arguments, Formula, Operator, Outputs
from opperf.catalog.formulas import each, each_output, like, none, product, same, tensors, whole, wholes, windows
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Images prepared, resized, sampled and taken apart.
#
# What comes from files is (batch, height, width, channels) in eight bits; what models compute with is (batch, channels,
# height, width). Operations for each element of the result: four multiply-adds where it is mixed of four neighbours,
# one for a division, two for a normalization; moving data is none.

_Shape = tuple[int, ...]

#: (batch, height, width, channels) in eight bits; skewed is one photograph.
FILES: Mapping[str, _Shape] = {
    "small": (2, 16, 16, 3),
    "common": (8, 224, 224, 3),
    "large": (32, 512, 512, 3),
    "skewed": (1, 2000, 3000, 3),
}
#: The same as real numbers, of which each takes four times the bytes.
PHOTOGRAPHS: Mapping[str, _Shape] = {**FILES, "large": (16, 512, 512, 3)}
#: (batch, channels, height, width); skewed has many channels of few pixels.
MAPS: Mapping[str, _Shape] = {
    "small": (1, 4, 8, 8),
    "common": (8, 64, 32, 32),
    "large": (4, 64, 128, 128),
    "skewed": (8, 1024, 4, 4),
}
#: The same for images as they are: data, and the height and width that they get; skewed makes a thumbnail.
RESIZES: Mapping[str, tuple[_Shape, tuple[int, int]]] = {
    "small": ((1, 3, 16, 16), (12, 20)),
    "common": ((8, 3, 256, 256), (224, 224)),
    "large": ((32, 3, 512, 512), (384, 384)),
    "skewed": ((1, 3, 2048, 2048), (32, 32)),
}
#: Usual for natural images, of red, green and blue.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
#: All that eight bits without a sign hold.
BYTES = (0.0, 256.0)


def _image(
    name: str,
    summary: str,
    sizes: Mapping[str, Arguments],
    outputs: Outputs,
    flops: Formula = none,
    *,
    differentiable: tuple[str, ...] = ("data",),
    **more: Any,
) -> Operator:
    """Declare `name`; `more` are fields of `Operator`."""
    return Operator(name, "image", summary, sizes, outputs, flops, differentiable=differentiable, **more)


def _tensors(case: Case) -> tuple[TensorSpec, ...]:
    batch, height, width, channels = case.tensor("data").shape
    return (TensorSpec((batch, channels, height, width)),)


def _crop_outputs(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    batch, rows, columns, channels = data.shape
    top, left, height, width = (whole(case, name) for name in ("top", "left", "height", "width"))
    if top + height > rows or left + width > columns:
        raise InputError(f"`{case.operator}` reaches beyond the {rows} x {columns} pixels of its data")
    return (like(data, (batch, height, width, channels)),)


def _resize(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, (*data.shape[:2], *wholes(case, "size", 2))),)


def _upsample(case: Case) -> tuple[TensorSpec, ...]:
    data, scale = case.tensor("data"), whole(case, "scale")
    batch, channels, height, width = data.shape
    return (like(data, (batch, channels, scale * height, scale * width)),)


def _sample(case: Case) -> tuple[TensorSpec, ...]:
    data, grid = case.tensor("data"), case.tensor("grid").shape
    return (like(data, (*data.shape[:2], *grid[1:3])),)


def _shuffle(case: Case) -> tuple[TensorSpec, ...]:
    data, factor = case.tensor("data"), whole(case, "factor")
    batch, channels, height, width = data.shape
    if channels % factor**2:
        raise InputError(f"`{case.operator}` cannot spread {channels} channels over {factor} x {factor} pixels")
    return (like(data, (batch, channels // factor**2, factor * height, factor * width)),)


def _gather(case: Case) -> tuple[TensorSpec, ...]:
    data, factor = case.tensor("data"), whole(case, "factor")
    batch, channels, height, width = data.shape
    if height % factor or width % factor:
        raise InputError(f"`{case.operator}` cannot divide {height} x {width} pixels into {factor} x {factor}")
    return (like(data, (batch, channels * factor**2, height // factor, width // factor)),)


def _columns(case: Case) -> tuple[TensorSpec, ...]:
    data, kernel = case.tensor("data"), wholes(case, "kernel", 2)
    batch, channels = data.shape[:2]
    places = windows(case, data.shape[2:], kernel, wholes(case, "stride", 2, 1))
    return (like(data, (batch, channels * product(kernel), product(places))),)


def _files(**attributes: Argument) -> dict[str, Arguments]:
    return tensors("data", shapes=FILES, dtype="uint8", range=BYTES, more=attributes)


def _crop(shape: _Shape) -> Arguments:
    _, rows, columns, _ = shape
    corner = {"top": rows // 8, "left": columns // 8, "height": rows // 2, "width": columns // 2}
    return {"data": TensorSpec(shape, "uint8", range=BYTES), **corner}


def _normalize(shape: _Shape) -> Arguments:
    batch, height, width, channels = shape
    return {"data": TensorSpec((batch, channels, height, width)), "mean": MEAN, "deviation": DEVIATION}


def _size() -> dict[str, Arguments]:
    return {size: {"data": TensorSpec(shape), "size": pixels} for size, (shape, pixels) in RESIZES.items()}


def _maps(**attributes: Argument) -> dict[str, Arguments]:
    return tensors("data", shapes=MAPS, more=attributes)


def _grid(shape: _Shape) -> Arguments:
    batch, _, height, width = shape
    # A little beyond the edges, where there is nothing.
    return {"data": TensorSpec(shape), "grid": TensorSpec((batch, height, width, 2), range=(-1.1, 1.1))}


_IMAGE = (
    _image(
        "image_to_tensor",
        "8-bit pixels divided by 255, channels first",
        _files(),
        _tensors,
        each(1),
        differentiable=(),
    ),
    _image(
        "image_normalize",
        "each channel minus its `mean`, divided by its `deviation`",
        {size: _normalize(shape) for size, shape in PHOTOGRAPHS.items()},
        same(),
        each(2),
    ),
    _image(
        "image_flip_left_right",
        "each row of pixels in reverse order (a view in some frameworks)",
        _files(),
        same(),
        differentiable=(),
        aliasing=FORWARD_ONLY,
    ),
    _image(
        "image_flip_top_bottom",
        "the rows of pixels in reverse order (a view in some frameworks)",
        _files(),
        same(),
        differentiable=(),
        aliasing=FORWARD_ONLY,
    ),
    _image(
        "image_crop",
        "`height` x `width` pixels starting at `top` and `left` (a view in some frameworks)",
        {size: _crop(shape) for size, shape in FILES.items()},
        _crop_outputs,
        differentiable=(),
        aliasing=FORWARD_ONLY,
    ),
    _image(
        "image_resize_bilinear",
        "images resized to `size`, each pixel interpolated from four, without antialiasing",
        _size(),
        _resize,
        each_output(8, _resize),
        rough=True,  # MXNet finds places in single precision, whatever the pixels are in
    ),
    _image(
        "image_resize_nearest",
        "images resized to `size`, each pixel taken from the one nearest its centre",
        _size(),
        _resize,
    ),
    _image("upsample_nearest", "each pixel repeated `scale` times in both dimensions", _maps(scale=2), _upsample),
    _image(
        "upsample_bilinear",
        "`scale` times as many pixels in both dimensions, each interpolated from the four around its centre",
        _maps(scale=2),
        _upsample,
        each_output(8, _upsample),
    ),
    _image(
        "grid_sample",
        "interpolated from the four pixels around each grid point (x, y); -1 and 1 are the centres of edge pixels",
        {size: _grid(shape) for size, shape in MAPS.items()},
        _sample,
        each_output(8, _sample),
        differentiable=("data", "grid"),
        aliases=("bilinear_sampler",),
        rough=True,
    ),
    _image(
        "pixel_shuffle",
        "each `factor` x `factor` neighbouring channels rearranged into pixels",
        _maps(factor=2),
        _shuffle,
    ),
    _image(
        "depth_to_space",
        "each `factor` x `factor` channels, far apart, rearranged into pixels",
        _maps(factor=2),
        _shuffle,
    ),
    _image(
        "space_to_depth",
        "each `factor` x `factor` pixels rearranged into channels, far apart",
        _maps(factor=2),
        _gather,
    ),
    _image(
        "im2col",
        "the elements under each position of a sliding window, as a column",
        _maps(kernel=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(1, 1)),
        _columns,
        aliases=("unfold",),
    ),
)


# Colors of one photograph (height, width, channels) changed, as training data is varied.
#
# `factor` 1 leaves a photograph as it is and 0 takes away what the operator is about. Operations for each number: a
# product, a sum where two are mixed, and five for each pixel's gray; contrast adds up the grays too. A hue is turned by
# three products and two sums for each number.

#: Skewed is a strip of a panorama.
COLOR_SIZES: Mapping[str, tuple[int, int, int]] = {
    "small": (16, 16, 3),
    "common": (512, 512, 3),
    "large": (3000, 4000, 3),
    "skewed": (64, 20_000, 3),
}
#: How much red, green and blue count in a pixel's gray.
GRAY = (0.299, 0.587, 0.114)
#: From red, green and blue to luma and two differences of color, and back: NTSC's YIQ.
TO_YIQ = (GRAY, (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))
FROM_YIQ = ((1.0, 0.956, 0.621), (1.0, -0.272, -0.647), (1.0, -1.107, 1.704))


def hue_rotation(angle: float) -> tuple[tuple[float, ...], ...]:
    """Return the matrix that rotates the hue of red, green and blue by a number of full turns.

    >>> [[round(part, 2) + 0.0 for part in row] for row in hue_rotation(0.0)]
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    cosine, sine = math.cos(2 * math.pi * angle), math.sin(2 * math.pi * angle)
    luma, first, second = TO_YIQ
    pixels = (
        luma,
        tuple(cosine * one - sine * other for one, other in zip(first, second)),
        tuple(sine * one + cosine * other for one, other in zip(first, second)),
    )
    return tuple(
        tuple(sum(back[k] * pixels[k][channel] for k in range(3)) for back in FROM_YIQ) for channel in range(3)
    )


def _gray(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, data.shape[:-1]),)


def _pixels(numbers: int, grays: int) -> Formula:
    def flops(case: Case) -> int:
        data = case.tensor("data")
        return numbers * data.elements + grays * (data.elements // data.shape[-1])

    return flops


_SAME = same()


def _color(name: str, summary: str, flops: Formula, outputs: Outputs = _SAME, **attributes: Argument) -> Operator:
    sizes = tensors("data", shapes=COLOR_SIZES, range=(0.0, 1.0), more=attributes)
    return Operator(name, "color", summary, sizes, outputs, flops)


_COLOR = (
    _color("image_to_gray", "the gray value of each pixel", _pixels(0, 5), _gray),
    _color("image_adjust_brightness", "every value times `factor`", each(1), factor=1.2),
    _color("image_adjust_contrast", "each value blended with the mean gray", _pixels(2, 6), factor=1.2),
    _color("image_adjust_saturation", "each pixel blended with its gray value", _pixels(3, 5), factor=1.2),
    _color("image_adjust_hue", "the hue of each pixel rotated by `angle`, in full turns", each(5), angle=0.1),
    _color(
        "image_color_jitter",
        "brightness, contrast and saturation adjusted in turn",
        _pixels(6, 11),
        brightness=1.2,
        contrast=0.9,
        saturation=1.1,
    ),
)


OPERATORS = (*_IMAGE, *_COLOR)
