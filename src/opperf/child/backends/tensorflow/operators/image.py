"""Images and their colors in TensorFlow.

Its own functions of images take channels last; where the catalog has them first, they stand between transposes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from opperf.catalog.image import GRAY, hue_rotation
from opperf.child.backends.call import Binding, Missing, call, composition, compositions
from opperf.child.backends.tensorflow.operators.convolution import pad, spread

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


def _resize(method: str, data: Any, size: tuple[int, ...]) -> Any:
    return tf.transpose(tf.image.resize(tf.transpose(data, LAST), size, method), FIRST)


def _scale(method: str, data: Any, scale: int) -> Any:
    return _resize(method, data, (scale * data.shape[2], scale * data.shape[3]))


def image_normalize(data: Any, mean: Any, deviation: Any) -> Any:
    """Return the channels shifted and scaled."""
    return (data - mean) / deviation


def depth_to_space(data: Any, factor: int) -> Any:
    """Move channels (down, right, channel) between the pixels."""
    return tf.transpose(tf.nn.depth_to_space(tf.transpose(data, LAST), factor), FIRST)


def space_to_depth(data: Any, factor: int) -> Any:
    """Move pixels before the channels."""
    return tf.transpose(tf.nn.space_to_depth(tf.transpose(data, LAST), factor), FIRST)


def pixel_shuffle(data: Any, factor: int) -> Any:
    """Return channels (channel, down, right) spread over pixels."""
    batch, channels, height, width = data.shape
    blocks = tf.reshape(data, (batch, channels // factor**2, factor, factor, height, width))
    return tf.reshape(tf.transpose(blocks, (0, 1, 4, 2, 5, 3)), (batch, -1, height * factor, width * factor))


def im2col(data: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Return the elements under each place of a window as a column."""
    size, step, gap = (spread(value, 2, 1) for value in (kernel, stride, dilation))
    images = tf.transpose(pad(data, spread(padding, 2, 0), 0), LAST)
    patches = tf.image.extract_patches(images, (1, *size, 1), (1, *step, 1), (1, *gap, 1), "VALID")
    batch, channels = data.shape[:2]
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


def _along_channels(name: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda arguments: tf.reshape(tf.constant(arguments[name], arguments["data"].dtype), (-1, 1, 1))


#: What color changes need, made before anything is timed.
WEIGHTS = {"weights": lambda arguments: tf.constant(GRAY, arguments["data"].dtype)}
TURN = {"turn": lambda arguments: tf.constant(hue_rotation(arguments["angle"]), arguments["data"].dtype)}
BETWEEN = "between transposes"

BINDINGS: dict[str, Binding] = {
    # Images in TensorFlow.
    "image_normalize": composition(
        image_normalize,
        derive={"mean": _along_channels("mean"), "deviation": _along_channels("deviation")},
        note="a difference and a division; mean and deviation are precomputed tensors",
    ),
    "image_flip_left_right": call("tf.image.flip_left_right", "data"),
    "image_flip_top_bottom": call("tf.image.flip_up_down", "data"),
    "image_crop": call("tf.image.crop_to_bounding_box", "data, top, left, height, width"),
    "depth_to_space": composition(depth_to_space, note=f"tf.nn.depth_to_space {BETWEEN}"),
    "space_to_depth": composition(space_to_depth, note=f"tf.nn.space_to_depth {BETWEEN}"),
    "grid_sample": Missing("TensorFlow samples no image at points; TensorFlow Addons did"),
    **compositions(
        image_to_tensor=(
            lambda data: tf.cast(tf.transpose(data, FIRST), tf.float32) / 255,
            "tf.transpose, tf.cast and a division",
        ),
        image_resize_bilinear=(lambda data, size: _resize("bilinear", data, size), f"tf.image.resize {BETWEEN}"),
        image_resize_nearest=(lambda data, size: _resize("nearest", data, size), f"tf.image.resize {BETWEEN}"),
        upsample_bilinear=(lambda data, scale: _scale("bilinear", data, scale), f"tf.image.resize {BETWEEN}"),
        upsample_nearest=(
            lambda data, scale: tf.repeat(tf.repeat(data, scale, axis=2), scale, axis=3),
            "tf.repeat in both dimensions",
        ),
        pixel_shuffle=(pixel_shuffle, "tf.transpose between reshapes"),
        im2col=(im2col, "tf.image.extract_patches between transposes, and tf.pad"),
        image_adjust_brightness=(lambda data, factor: data * factor, "`data * factor`"),
    ),
    "image_to_gray": composition(to_gray, derive=WEIGHTS, note="tf.tensordot with three precomputed weights"),
    "image_adjust_contrast": composition(adjust_contrast, derive=WEIGHTS, note="products, a mean and a sum"),
    "image_adjust_saturation": composition(adjust_saturation, derive=WEIGHTS, note="products and a sum"),
    "image_adjust_hue": composition(adjust_hue, derive=TURN, note="tf.tensordot with nine precomputed numbers"),
    "image_color_jitter": composition(color_jitter, derive=WEIGHTS, note="the three adjustments, composed"),
}
