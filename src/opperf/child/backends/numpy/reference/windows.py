"""What slides a window over data: (batch, channels, space...), any number of space dimensions."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Widths: TypeAlias = tuple[int, ...]


def convolution(data: Any, weight: Any, stride: Widths, padding: Widths, dilation: Widths, groups: int = 1) -> Any:
    """Return the sum of products of the weight with each window."""
    patches = windows(data, weight.shape[2:], stride, padding, dilation)
    inner = tuple(range(-len(stride), 0))
    parts = [
        np.tensordot(part, kernel, axes=((1, *inner), (1, *inner)))
        for part, kernel in zip(np.split(patches, groups, axis=1), np.split(weight, groups))
    ]
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, 1)


def depthwise(data: Any, weight: Any, stride: Widths, padding: Widths, dilation: Widths) -> Any:
    """Return the convolution of each channel by itself."""
    return convolution(data, weight, stride, padding, dilation, groups=data.shape[1])


def transposed_convolution(
    data: Any, weight: Any, stride: Widths, padding: Widths, dilation: Widths, groups: int, output_padding: Widths
) -> Any:
    """Return each element times the weight, added where the products overlap: data apart by the stride, convolved."""
    kernel = weight.shape[2:]
    spread = [(size - 1) * step + 1 for size, step in zip(data.shape[2:], stride)]
    apart = np.zeros((*data.shape[:2], *spread), data.dtype)
    apart[_step_index(stride)] = data
    edges = [gap * (width - 1) - pad for gap, width, pad in zip(dilation, kernel, padding)]
    apart = np.pad(apart, [(0, 0), (0, 0), *((edge, edge + more) for edge, more in zip(edges, output_padding))])
    mirror = np.flip(weight, axis=tuple(range(2, weight.ndim)))
    kernels = np.concatenate([np.swapaxes(part, 0, 1) for part in np.split(mirror, groups)])
    nothing, once = (0,) * len(stride), (1,) * len(stride)
    return convolution(apart, kernels, once, nothing, dilation, groups)


def max_pool(data: Any, kernel: Widths, stride: Widths, padding: Widths) -> Any:
    """Return the largest value of each window."""
    return windows(data, kernel, stride, padding, fill=-np.inf).max(axis=tuple(range(-len(kernel), 0)))


def avg_pool(data: Any, kernel: Widths, stride: Widths, padding: Widths) -> Any:
    """Return the mean of each window, padding as zeros."""
    return windows(data, kernel, stride, padding).mean(axis=tuple(range(-len(kernel), 0)))


def lp_pool(data: Any, kernel: Widths, stride: Widths, power: int) -> Any:
    """Return the root of the sum of powers of each window."""
    patches = windows(data, kernel, stride, (0,) * len(kernel))
    return (patches**power).sum(axis=tuple(range(-len(kernel), 0))) ** (1 / power)


def adaptive_avg_pool(data: Any, output_size: Widths) -> Any:
    """Return the means of windows that share an image evenly, and overlap where the sizes do not divide."""
    rows, columns = (
        [slice(i * old // new, -(-(i + 1) * old // new)) for i in range(new)]
        for old, new in zip(data.shape[2:], output_size)
    )
    means = [[data[:, :, row, column].mean(axis=(2, 3)) for column in columns] for row in rows]
    return np.moveaxis(np.array(means), (0, 1), (2, 3))


def windows(
    data: Any, kernel: Widths, stride: Widths, padding: Widths, dilation: Widths | None = None, fill: float = 0.0
) -> Any:
    """Return every window, the elements of each in the last dimensions."""
    dilation = dilation or (1,) * len(kernel)
    data = np.pad(data, [(0, 0), (0, 0), *((pad, pad) for pad in padding)], constant_values=fill)
    spans = [gap * (width - 1) + 1 for gap, width in zip(dilation, kernel)]
    patches = sliding_window_view(data, spans, axis=tuple(range(2, data.ndim)))
    return patches[_step_index((*stride, *dilation))]


def _step_index(steps: Widths) -> tuple[slice, ...]:
    """Return the index of all of each channel of each batch that lies on these steps."""
    return tuple(slice(None, None, step) for step in (1, 1, *steps))
