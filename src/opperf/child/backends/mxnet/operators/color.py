"""Colors in MXNet: operators of `nd.image` where they are right, else what is composed.

Those of MXNet draw their factor between two bounds, which are equal here. Its `random_saturation` keeps the blue share
of each pixel's gray alone, so that one is composed.
"""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.call import Binding, call
from opperf.child.backends.colors import derived
from opperf.child.backends.mxnet.spelling import composed


def image_to_gray(F: Any, data: Any, weights: Any) -> Any:
    """Return the weighed sum of the channels."""
    return F.np.dot(data, weights)


def image_adjust_saturation(F: Any, data: Any, weights: Any, *, factor: float) -> Any:
    """Mix with the gray of each pixel."""
    return data * factor + (1 - factor) * F.np.expand_dims(F.np.dot(data, weights), -1)


def image_color_jitter(
    F: Any, data: Any, weights: Any, *, brightness: float, contrast: float, saturation: float
) -> Any:
    """Adjust one after the other."""
    scaled = data * brightness
    mixed = scaled * contrast + (1 - contrast) * F.np.mean(F.np.dot(scaled, weights))
    return image_adjust_saturation(F, mixed, weights, factor=saturation)


def image_adjust_hue(F: Any, data: Any, turn: Any) -> Any:
    """Turn the two differences of color around the gray."""
    return F.np.dot(data, turn)


def _like(data: Any, numbers: Any) -> Any:
    return mx.nd.array(numbers, ctx=data.context, dtype=data.dtype)


DERIVED = derived(_like)
WEIGHTS = {"weights": DERIVED["weights"]}

BINDINGS: dict[str, Binding] = {
    "image_to_gray": composed(
        image_to_gray, "data, weights", derive=WEIGHTS, note="np.dot with three weights made before", numpy=True
    ),
    "image_adjust_brightness": call("nd.image.random_brightness", "data", "min_factor=factor, max_factor=factor"),
    "image_adjust_contrast": call("nd.image.random_contrast", "data", "min_factor=factor, max_factor=factor"),
    "image_adjust_saturation": composed(
        image_adjust_saturation,
        "data, weights",
        "factor=factor",
        derive=WEIGHTS,
        note="np.dot, products and a sum: nd.image.random_saturation is wrong",
        numpy=True,
    ),
    "image_adjust_hue": composed(
        image_adjust_hue,
        "data, turn",
        derive={"turn": DERIVED["turn"]},
        note="np.dot with nine numbers made before; nd.image.random_hue goes another way, pixel by pixel",
        numpy=True,
    ),
    "image_color_jitter": composed(
        image_color_jitter,
        "data, weights",
        "brightness=brightness, contrast=contrast, saturation=saturation",
        derive=WEIGHTS,
        note="products, np.dot and np.mean; nd.image.random_color_jitter draws its factors and their order",
        numpy=True,
    ),
}
