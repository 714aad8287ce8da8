"""Colors in PyTorch: a few functions for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from opperf.backends.call import Binding, composed
from opperf.operators.color import GRAY


def image_to_gray(data: Any, weights: Any) -> Any:
    """Return the weighed sum of the channels."""
    return data @ weights


def image_adjust_brightness(data: Any, factor: float) -> Any:
    """Scale."""
    return data * factor


def image_adjust_contrast(data: Any, weights: Any, factor: float) -> Any:
    """Mix with one gray."""
    return data * factor + (1 - factor) * (data @ weights).mean()


def image_adjust_saturation(data: Any, weights: Any, factor: float) -> Any:
    """Mix with the gray of each pixel."""
    return data * factor + (1 - factor) * (data @ weights)[..., None]


def image_color_jitter(data: Any, weights: Any, brightness: float, contrast: float, saturation: float) -> Any:
    """Adjust one after the other."""
    adjusted = image_adjust_contrast(image_adjust_brightness(data, brightness), weights, contrast)
    return image_adjust_saturation(adjusted, weights, saturation)


def _weights(made: Mapping[str, Any]) -> Any:
    return torch.tensor(GRAY, dtype=made["data"].dtype, device=made["data"].device)


WEIGHTS = {"weights": _weights}

BINDINGS: dict[str, Binding] = {
    function.__name__: composed(function, arguments, derive=derive, note=note)
    for function, arguments, derive, note in (
        (image_to_gray, "data, weights", WEIGHTS, "a product with three weights made before"),
        (image_adjust_brightness, "data, factor", {}, "`data * factor`"),
        (image_adjust_contrast, "data, weights, factor", WEIGHTS, "products, a mean and a sum"),
        (image_adjust_saturation, "data, weights, factor", WEIGHTS, "products and a sum"),
        (
            image_color_jitter,
            "data, weights, brightness, contrast, saturation",
            WEIGHTS,
            "the three adjustments, composed",
        ),
    )
}
