"""Images and their colors in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.operators import images
from opperf.child.backends.arrays.windows import spread
from opperf.child.backends.binding import Binding, call, compositions, gaps

NO_RESAMPLING = "NumPy has no resampling of images; its `interp` is for points on one line"


def image_resize_nearest(data: Any, size: Any) -> Any:
    rows, columns = (
        ((np.arange(new) + 0.5) * (old / new)).astype(np.int64)
        for new, old in zip(spread(size, 2, 1), data.shape[2:], strict=True)
    )
    return data[:, :, rows[:, np.newaxis], columns]


def im2col(data: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Return the elements under each place of a window as a column."""
    (high, wide), (down, right), (above, left), (rows, columns) = (
        spread(value, 2, default) for value, default in ((kernel, 1), (stride, 1), (padding, 0), (dilation, 1))
    )
    data = np.pad(data, ((0, 0), (0, 0), (above, above), (left, left)))
    spans = (high - 1) * rows + 1, (wide - 1) * columns + 1
    windows = np.lib.stride_tricks.sliding_window_view(data, spans, axis=(2, 3))
    patches = windows[:, :, ::down, ::right, ::rows, ::columns]
    batch, channels = data.shape[:2]
    return np.transpose(patches, (0, 1, 4, 5, 2, 3)).reshape(batch, channels * high * wide, -1)


def _array_like(data: Any, numbers: Any) -> Any:
    return np.array(numbers, data.dtype)


BINDINGS: dict[str, Binding] = {
    # Images in NumPy: what indexing and arithmetic do in a few functions.
    **images(np, "numpy", _array_like, "indexing with slices, a view"),
    "image_flip_left_right": call("numpy.flip", "m=data", "axis=-2"),
    "image_flip_top_bottom": call("numpy.flip", "m=data", "axis=-3"),
    **gaps(NO_RESAMPLING, "image_resize_bilinear upsample_bilinear grid_sample"),
    **compositions(
        image_to_tensor=(
            lambda data: np.ascontiguousarray(np.transpose(data, (0, 3, 1, 2))).astype(np.float32) / 255,
            "numpy.transpose, numpy.ascontiguousarray, a cast and numpy.divide",
        ),
        image_resize_nearest=(image_resize_nearest, "numpy.arange and arithmetic, and indexing with two arrays"),
        im2col=(im2col, "numpy.pad, numpy.lib.stride_tricks.sliding_window_view, a transpose and a reshape"),
    ),
}
