"""Changes of color written once, for the frameworks whose arrays have Python's operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from opperf.catalog.image import GRAY, turned
from opperf.child.backends.call import Binding, Derive, composed


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


def image_adjust_hue(data: Any, turn: Any) -> Any:
    """Turn the two differences of color around the gray."""
    return data @ turn


def image_color_jitter(data: Any, weights: Any, brightness: float, contrast: float, saturation: float) -> Any:
    """Adjust one after the other."""
    adjusted = image_adjust_contrast(image_adjust_brightness(data, brightness), weights, contrast)
    return image_adjust_saturation(adjusted, weights, saturation)


#: Of each: the function, and what it is made of.
CHANGES: Mapping[str, tuple[Callable[..., Any], str]] = {
    "image_to_gray": (image_to_gray, "a product with three weights made before"),
    "image_adjust_brightness": (image_adjust_brightness, "`data * factor`"),
    "image_adjust_contrast": (image_adjust_contrast, "products, a mean and a sum"),
    "image_adjust_saturation": (image_adjust_saturation, "products and a sum"),
    "image_adjust_hue": (image_adjust_hue, "a product with nine numbers made before"),
    "image_color_jitter": (image_color_jitter, "the three adjustments, composed"),
}


def derived(like: Callable[[Any, Any], Any]) -> dict[str, Derive]:
    """Return how what changes need is made before anything is timed; `like` makes an array like another, of numbers."""
    return {
        "weights": lambda made: like(made["data"], GRAY),
        "turn": lambda made: like(made["data"], turned(made["angle"])),
    }


def change(name: str, like: Callable[[Any, Any], Any]) -> Binding:
    """Return the binding of one; `like` makes an array like another, of numbers."""
    function, note = CHANGES[name]
    derive = {own: make for own, make in derived(like).items() if own in signature(function).parameters}
    return composed(function, derive=derive, note=note)


def depth_to_space(data: Any, factor: int) -> Any:
    """Take channels as (down, right, channel) and move the first two between the pixels."""
    batch, channels, height, width = data.shape
    parted = data.reshape(batch, factor, factor, channels // factor**2, height, width)
    moved = parted.transpose(0, 3, 4, 1, 5, 2)
    return moved.reshape(batch, channels // factor**2, height * factor, width * factor)


def space_to_depth(data: Any, factor: int) -> Any:
    """Part the pixels and move what is parted before the channels."""
    batch, channels, height, width = data.shape
    parted = data.reshape(batch, channels, height // factor, factor, width // factor, factor)
    moved = parted.transpose(0, 3, 5, 1, 2, 4)
    return moved.reshape(batch, channels * factor**2, height // factor, width // factor)
