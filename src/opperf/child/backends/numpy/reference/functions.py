"""Replacements for neutral operators that NumPy has no function for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg, special

from opperf.child.backends.arrays.fusions import convolved, gates
from opperf.child.backends.arrays.normalization import along_channels
from opperf.child.backends.arrays.recurrent import layers
from opperf.child.backends.arrays.serving import MOST_FLOAT8
from opperf.child.backends.binding import Binding, Call, bindings, composition
from opperf.child.backends.numpy.operators import activation, normalization, recurrent
from opperf.child.backends.numpy.operators.linalg import near_identity
from opperf.child.backends.numpy.reference import windows
from opperf.domain.backend import Unsupported


def same(data: Any) -> Any:
    """Return the data."""
    return data


def gelu(data: Any, approximate: str | None) -> Any:
    """Return the data times the normal distribution, or its approximation with tanh."""
    return activation.gelu(data, approximate) if approximate == "tanh" else data * special.ndtr(data)


def distinct(data: Any) -> Any:
    """Return the data; refuse equal elements in a row, which may be named in any order."""
    if not np.diff(np.sort(data, axis=-1), axis=-1).all():
        raise Unsupported("its data has equal elements, whose order is not defined")
    return data


def naming(name: str, data: str) -> Binding:
    """Return NumPy's spelling of an operator that names elements by their places."""
    binding = bindings("numpy")[name]
    return replace(binding, adapt={**binding.adapt, data: distinct}) if isinstance(binding, Call) else binding


def triangular_solve(matrix: Any, right: Any) -> Any:
    """Return the solution for the lower triangle of the matrix."""
    return linalg.solve_triangular(matrix, right, lower=True)


def relu(data: Any) -> Any:
    """Return the data where above zero."""
    return np.maximum(data, 0)


def convolve(data: Any, weight: Any, bias: Any, stride: Any, padding: Any) -> Any:
    """Return the convolution with its bias."""
    convolved = windows.convolution(data, weight, stride, padding, (1,) * len(stride))
    return convolved if bias is None else convolved + along_channels(bias, data)


def run(data: Any, states: Any, weights: Any, step: Callable[..., Any], *, reverse: bool = False) -> tuple[Any, Any]:
    """Return every hidden state of a sequence, and the last states."""
    steps = []
    for row in data[::-1] if reverse else data:
        of_data, of_hidden = recurrent.product(row, *weights[::2]), recurrent.product(states[0], *weights[1::2])
        states = step(of_data, of_hidden, states)
        steps.append(states[0])
    return np.stack(steps[::-1] if reverse else steps), states


def bilinear(data: Any, size: tuple[int, int]) -> Any:
    """Return images of another size, each pixel mixed of the four around its centre."""
    rows, columns = (_mix(old, new) for old, new in zip(data.shape[2:], size))
    return rows @ data @ columns.T


def upsample_bilinear(data: Any, scale: int) -> Any:
    """Return `scale` times as many pixels in both dimensions."""
    return bilinear(data, (scale * data.shape[2], scale * data.shape[3]))


def _mix(old: int, new: int) -> Any:
    """Return the share of each old place in each new one."""
    places = np.clip((np.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)
    return np.maximum(1 - np.abs(places[:, np.newaxis] - np.arange(old)), 0)


def grid_sample(data: Any, grid: Any) -> Any:
    """Return a mixture of the four pixels around each point, nothing beyond the edges."""
    rows, columns = (
        np.maximum(1 - np.abs((grid[..., [axis]] + 1) / 2 * (size - 1) - np.arange(size)), 0)
        for axis, size in ((1, data.shape[2]), (0, data.shape[3]))
    )
    return np.einsum("nchw,nijh,nijw->ncij", data, rows, columns)


def ctc_loss(data: Any, labels: Any) -> Any:
    """Return minus the log-likelihood of labels, however aligned: blanks, class 0, may stand around each.

    The forward recursion of Graves et al., 2006, section 4.1.
    """
    scores = special.log_softmax(data, axis=2)
    return np.array([_unlikelihood(scores[:, i], labels[i]) for i in range(len(labels))])


def _unlikelihood(scores: Any, labels: Any) -> Any:
    path = np.zeros(2 * len(labels) + 1, np.int64)
    path[1::2] = labels
    # A blank may be left out between two labels that differ.
    leaps = np.zeros(len(path), bool)
    leaps[3::2] = labels[1:] != labels[:-1]
    totals = np.full(len(path), -np.inf)
    totals[:2] = scores[0, path[:2]]
    for step in scores[1:]:
        before = np.concatenate([[-np.inf, -np.inf], totals])
        leapt = np.where(leaps, before[:-2], -np.inf)
        totals = np.logaddexp.reduce([before[2:], before[1:-1], leapt]) + step[path]
    return -np.logaddexp(totals[-1], totals[-2])


def float8_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    """Return the product with a transposed matrix, scaled."""
    return (lhs @ rhs.T) * (lhs_scale * rhs_scale)


def block_quantize_float8(data: Any, block: int) -> Any:
    """Return numbers that eight bits reach, not rounded to them, and the powers of two that they are scaled by."""
    blocks = data.reshape(*data.shape[:-1], -1, block)
    scale = np.exp2(np.floor(np.log2(np.abs(blocks).max(-1))) - np.floor(np.log2(MOST_FLOAT8)))
    return np.clip(blocks / scale[..., np.newaxis], -MOST_FLOAT8, MOST_FLOAT8).reshape(data.shape), scale


WINDOW = "data, weight, stride, padding, dilation"
NOTE = "in float64"


def _spell(function: Callable[..., Any], arguments: str, **more: Any) -> Binding:
    return composition(function, arguments, note=NOTE, **more)


BINDINGS: dict[str, Binding] = {
    "to_numpy": _spell(same, "data"),
    **{name: _spell(getattr(special, name), "data") for name in ("erf", "erfinv", "gammaln", "digamma")},
    **{name: naming(name, "data") for name in ("argmax", "argmin", "argsort", "topk")},
    "top_k_routing": naming("top_k_routing", "logits"),
    "gelu": _spell(gelu, "data, approximate"),
    "triangular_solve": _spell(triangular_solve, "matrix, right", adapt={"matrix": near_identity}),
    **{
        name: _spell(windows.convolution, f"{WINDOW}, groups")
        for name in ("conv1d", "conv2d", "conv3d", "grouped_conv2d", "dilated_conv2d")
    },
    "depthwise_conv2d": _spell(windows.depthwise, WINDOW),
    **{
        f"conv_transpose{space}d": _spell(windows.transposed_convolution, f"{WINDOW}, groups, output_padding")
        for space in (1, 2, 3)
    },
    **{f"max_pool{space}d": _spell(windows.max_pool, "data, kernel, stride, padding") for space in (1, 2, 3)},
    **{f"avg_pool{space}d": _spell(windows.avg_pool, "data, kernel, stride, padding") for space in (1, 2, 3)},
    "lp_pool2d": _spell(windows.lp_pool, "data, kernel, stride, power"),
    "adaptive_avg_pool2d": _spell(windows.adaptive_avg_pool, "data, output_size"),
    "image_resize_bilinear": _spell(bilinear, "data, size"),
    "upsample_bilinear": _spell(upsample_bilinear, "data, scale"),
    "grid_sample": _spell(grid_sample, "data, grid"),
    "ctc_loss": _spell(ctc_loss, "data, labels"),
    "block_quantize_float8": _spell(block_quantize_float8, "data, block"),
    "float8_matmul": _spell(float8_matmul, "lhs, rhs, lhs_scale, rhs_scale"),
    **gates((np.split, NOTE), product="", geglu=(gelu, "")),
    **convolved((convolve, NOTE), (normalization.batch_norm, ""), (relu, "")),
    **layers(np, NOTE, run=run, concatenate=np.concatenate, sigmoid=recurrent.sigmoid),
}
