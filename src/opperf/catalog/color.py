"""Colors of one photograph (height, width, channels) changed, as training data is varied.

`factor` 1 leaves a photograph as it is and 0 takes away what the operator is about. Operations for each number: a
product, a sum where two are mixed, and five for each pixel's gray; contrast adds up the grays too. A hue is turned by
three products and two sums for each number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from opperf.catalog.definition import FORWARD_ONLY, Formula, Operator, Outputs
from opperf.catalog.formulas import each, like, same
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import TensorSpec

#: Skewed is a strip of a panorama.
PHOTOGRAPHS: Mapping[str, tuple[int, int, int]] = {
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


def turned(angle: float) -> tuple[tuple[float, ...], ...]:
    """Return by which rows red, green and blue are multiplied and added, to turn a hue by so many full turns.

    >>> [[round(part, 2) + 0.0 for part in row] for row in turned(0.0)]
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    cosine, sine = math.cos(2 * math.pi * angle), math.sin(2 * math.pi * angle)
    luma, first, second = TO_YIQ
    moved = (
        luma,
        tuple(cosine * one - sine * other for one, other in zip(first, second)),
        tuple(sine * one + cosine * other for one, other in zip(first, second)),
    )
    return tuple(tuple(sum(back[k] * moved[k][channel] for k in range(3)) for back in FROM_YIQ) for channel in range(3))


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
    return Operator(
        name=name,
        category="color",
        summary=summary,
        inputs=("data",),
        sizes={
            size: {"data": TensorSpec(shape, range=(0.0, 1.0)), **attributes} for size, shape in PHOTOGRAPHS.items()
        },
        outputs=outputs,
        flops=flops,
        directions=FORWARD_ONLY,
    )


OPERATORS = (
    _color("image_to_gray", "the gray of each pixel", _pixels(0, 5), _gray),
    _color("image_adjust_brightness", "every number times the `factor`", each(1), factor=1.2),
    _color("image_adjust_contrast", "each number mixed with the mean gray", _pixels(2, 6), factor=1.2),
    _color("image_adjust_saturation", "each pixel mixed with its gray", _pixels(3, 5), factor=1.2),
    _color("image_adjust_hue", "the hue of each pixel turned by `angle`, in full turns", each(5), angle=0.1),
    _color(
        "image_color_jitter",
        "brightness, contrast and saturation adjusted, one after the other",
        _pixels(6, 11),
        brightness=1.2,
        contrast=0.9,
        saturation=1.1,
    ),
)
