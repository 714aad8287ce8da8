"""Images and their colors in TensorFlow.

Its own functions of images take channels last. Where the catalog has them first, data are laid out so before anything
is timed, as those of convolutions are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.operators import derivations, normalization
from opperf.child.backends.arrays.windows import spread
from opperf.child.backends.binding import Binding, Missing, call, composition, compositions
from opperf.child.backends.tensorflow.operators.convolution import OF_IMAGES, OWN_DATA, channels_last, pad

FIRST = (0, 3, 1, 2)


def image_resize_bilinear(data: Any, size: tuple[int, ...]) -> Any:
    return tf.image.resize(data, size, "bilinear")


def image_resize_nearest(data: Any, size: tuple[int, ...]) -> Any:
    return tf.image.resize(data, size, "nearest")


def upsample_bilinear(data: Any, scale: int) -> Any:
    """Return images so many times as high and wide."""
    return tf.image.resize(data, (scale * data.shape[1], scale * data.shape[2]), "bilinear")


def depth_to_space(data: Any, factor: int) -> Any:
    return tf.nn.depth_to_space(data, factor)


def space_to_depth(data: Any, factor: int) -> Any:
    return tf.nn.space_to_depth(data, factor)


def pixel_shuffle(data: Any, factor: int) -> Any:
    batch, channels, height, width = data.shape
    blocks = tf.reshape(data, (batch, channels // factor**2, factor, factor, height, width))
    return tf.reshape(tf.transpose(blocks, (0, 1, 4, 2, 5, 3)), (batch, -1, height * factor, width * factor))


def im2col(data: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Return the elements under each place of a window as a column."""
    size, step, gap = (spread(value, 2, 1) for value in (kernel, stride, dilation))
    patches = tf.image.extract_patches(
        pad(data, spread(padding, 2, 0), 0), (1, *size, 1), (1, *step, 1), (1, *gap, 1), "VALID"
    )
    batch, channels = data.shape[0], data.shape[-1]
    columns = tf.transpose(tf.reshape(patches, (batch, -1, size[0] * size[1], channels)), (0, 3, 2, 1))
    return tf.reshape(columns, (batch, channels * size[0] * size[1], -1))


def to_gray(data: Any, weights: Any) -> Any:
    """Return the weighed sum of the channels."""
    return tf.tensordot(data, weights, 1)


def adjust_hue(data: Any, turn: Any) -> Any:
    """Turn the two differences of color around the gray."""
    return tf.tensordot(data, turn, 1)


def adjust_contrast(data: Any, weights: Any, factor: float) -> Any:
    """Mix with one gray."""
    return data * factor + (1 - factor) * tf.reduce_mean(to_gray(data, weights))


def adjust_saturation(data: Any, weights: Any, factor: float) -> Any:
    """Mix with the gray of each pixel."""
    return data * factor + (1 - factor) * to_gray(data, weights)[..., None]


def color_jitter(data: Any, weights: Any, brightness: float, contrast: float, saturation: float) -> Any:
    """Adjust one after the other."""
    return adjust_saturation(adjust_contrast(data * brightness, weights, contrast), weights, saturation)


def _array_like(data: Any, numbers: Any) -> Any:
    return tf.constant(numbers, data.dtype)


def _of_images(function: Callable[..., Any], own: str) -> Binding:
    return composition(function, note=f"{own}, {OWN_DATA}", **OF_IMAGES)


#: What color changes need, made before anything is timed.
DERIVED = derivations(_array_like)
WEIGHTS, TURN = ({name: DERIVED[name]} for name in ("weights", "turn"))

BINDINGS: dict[str, Binding] = {
    # Images in TensorFlow.
    "image_normalize": normalization(
        _array_like, "a difference and a division; mean and deviation are precomputed tensors"
    ),
    "image_flip_left_right": call("tf.image.flip_left_right", "data"),
    "image_flip_top_bottom": call("tf.image.flip_up_down", "data"),
    "image_crop": call("tf.image.crop_to_bounding_box", "data, top, left, height, width"),
    "depth_to_space": _of_images(depth_to_space, "tf.nn.depth_to_space"),
    "space_to_depth": _of_images(space_to_depth, "tf.nn.space_to_depth"),
    "image_resize_bilinear": _of_images(image_resize_bilinear, "tf.image.resize"),
    "image_resize_nearest": _of_images(image_resize_nearest, "tf.image.resize"),
    "upsample_bilinear": _of_images(upsample_bilinear, "tf.image.resize"),
    "im2col": composition(
        im2col,
        adapt={"data": channels_last},
        note="tf.pad, tf.image.extract_patches and tf.transpose, the data in TensorFlow's own layout",
    ),
    "grid_sample": Missing("TensorFlow samples no image at points; TensorFlow Addons did"),
    **compositions(
        image_to_tensor=(
            lambda data: tf.cast(tf.transpose(data, FIRST), tf.float32) / 255,
            "tf.transpose, tf.cast and a division",
        ),
        upsample_nearest=(
            lambda data, scale: tf.repeat(tf.repeat(data, scale, axis=2), scale, axis=3),
            "tf.repeat in both dimensions",
        ),
        pixel_shuffle=(pixel_shuffle, "tf.transpose between reshapes"),
        image_adjust_brightness=(lambda data, factor: data * factor, "`data * factor`"),
    ),
    "image_to_gray": composition(to_gray, derive=WEIGHTS, note="tf.tensordot with three precomputed weights"),
    "image_adjust_contrast": composition(adjust_contrast, derive=WEIGHTS, note="products, a mean and a sum"),
    "image_adjust_saturation": composition(adjust_saturation, derive=WEIGHTS, note="products and a sum"),
    "image_adjust_hue": composition(adjust_hue, derive=TURN, note="tf.tensordot with nine precomputed numbers"),
    "image_color_jitter": composition(color_jitter, derive=WEIGHTS, note="the three adjustments, composed"),
}
