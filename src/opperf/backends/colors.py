"""Changes of color written once, for the frameworks whose arrays have Python's operators."""

from __future__ import annotations

from typing import Any

from opperf.backends.call import Binding, Derive, composed


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


def bindings(weights: Derive) -> dict[str, Binding]:
    """Return the bindings; `weights` makes the three weights of gray, before anything is timed."""
    gray = {"weights": weights}
    return {
        function.__name__: composed(function, arguments, derive=derive, note=note)
        for function, arguments, derive, note in (
            (image_to_gray, "data, weights", gray, "a product with three weights made before"),
            (image_adjust_brightness, "data, factor", {}, "`data * factor`"),
            (image_adjust_contrast, "data, weights, factor", gray, "products, a mean and a sum"),
            (image_adjust_saturation, "data, weights, factor", gray, "products and a sum"),
            (
                image_color_jitter,
                "data, weights, brightness, contrast, saturation",
                gray,
                "the three adjustments, composed",
            ),
        )
    }
