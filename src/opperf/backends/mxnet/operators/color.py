"""Colors in MXNet: operators of `nd.image` where they are right, else what is composed.

Those of MXNet draw their factor between two bounds, which are equal here. Its `random_saturation` keeps the blue share
of each pixel's gray alone, so that one is composed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mxnet as mx

from opperf.backends.call import Binding, call
from opperf.backends.mxnet.spelling import composed
from opperf.operators.color import GRAY


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


def _weights(made: Mapping[str, Any]) -> Any:
    return mx.nd.array(GRAY, ctx=made["data"].context, dtype=made["data"].dtype)


WEIGHTS = {"weights": _weights}

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
    "image_color_jitter": composed(
        image_color_jitter,
        "data, weights",
        "brightness=brightness, contrast=contrast, saturation=saturation",
        derive=WEIGHTS,
        note="products, np.dot and np.mean; nd.image.random_color_jitter draws its factors and their order",
        numpy=True,
    ),
}
