"""Images and their colors in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.operators import CHANGES, change, depth_to_space, normalization, space_to_depth
from opperf.child.backends.binding import Binding, Missing, call, composition, compositions

NO_RESAMPLING = Missing("NumPy has no resampling of images; its `interp` is for points on one line")


def image_resize_nearest(data: Any, size: Any) -> Any:
    """Return for each pixel the one nearest its centre."""
    rows, columns = (
        ((np.arange(new) + 0.5) * (old / new)).astype(np.int64)
        for new, old in zip(_pair(size, 1), data.shape[2:], strict=True)
    )
    return data[:, :, rows[:, np.newaxis], columns]


def pixel_shuffle(data: Any, factor: int) -> Any:
    """Return channels spread over pixels."""
    batch, channels, height, width = data.shape
    blocks = data.reshape(batch, channels // factor**2, factor, factor, height, width)
    return np.transpose(blocks, (0, 1, 4, 2, 5, 3)).reshape(batch, -1, height * factor, width * factor)


def im2col(data: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Return the elements under each place of a window as a column."""
    (high, wide), (down, right), (above, left), (rows, columns) = (
        _pair(value, default) for value, default in ((kernel, 1), (stride, 1), (padding, 0), (dilation, 1))
    )
    data = np.pad(data, ((0, 0), (0, 0), (above, above), (left, left)))
    spans = (high - 1) * rows + 1, (wide - 1) * columns + 1
    windows = np.lib.stride_tricks.sliding_window_view(data, spans, axis=(2, 3))
    patches = windows[:, :, ::down, ::right, ::rows, ::columns]
    batch, channels = data.shape[:2]
    return np.transpose(patches, (0, 1, 4, 5, 2, 3)).reshape(batch, channels * high * wide, -1)


def _pair(value: Any, default: int) -> tuple[int, ...]:
    """Return a number for each space dimension."""
    value = default if value is None else value
    return (value, value) if isinstance(value, int) else tuple(value)


def _array_like(data: Any, numbers: Any) -> Any:
    return np.array(numbers, data.dtype)


BINDINGS: dict[str, Binding] = {
    # Images in NumPy: what indexing and arithmetic do in a few functions.
    "image_normalize": normalization(
        _array_like, "numpy.subtract and numpy.divide; mean and deviation are precomputed arrays"
    ),
    "image_flip_left_right": call("numpy.flip", "m=data", "axis=-2"),
    "image_flip_top_bottom": call("numpy.flip", "m=data", "axis=-3"),
    "image_resize_bilinear": NO_RESAMPLING,
    "upsample_bilinear": NO_RESAMPLING,
    "grid_sample": NO_RESAMPLING,
    "depth_to_space": composition(depth_to_space, "data, factor", note="numpy.transpose between reshapes"),
    "space_to_depth": composition(space_to_depth, "data, factor", note="numpy.transpose between reshapes"),
    **compositions(
        image_to_tensor=(
            lambda data: np.ascontiguousarray(np.transpose(data, (0, 3, 1, 2))).astype(np.float32) / 255,
            "numpy.transpose, numpy.ascontiguousarray, a cast and numpy.divide",
        ),
        image_crop=(
            lambda data, top, left, height, width: data[:, top : top + height, left : left + width],
            "indexing with slices, a view",
        ),
        image_resize_nearest=(image_resize_nearest, "numpy.arange and arithmetic, and indexing with two arrays"),
        upsample_nearest=(
            lambda data, scale: np.repeat(np.repeat(data, scale, axis=2), scale, axis=3),
            "numpy.repeat in both dimensions",
        ),
        pixel_shuffle=(pixel_shuffle, "numpy.transpose between reshapes"),
        im2col=(im2col, "numpy.pad, numpy.lib.stride_tricks.sliding_window_view, a transpose and a reshape"),
    ),
    **{name: change(name, _array_like) for name in CHANGES},
}
