"""Selective state spaces in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.serving import states
from opperf.child.backends.binding import Binding, compositions


def selective_scan(data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any) -> Any:
    """Return the sequence, one step after the other."""
    decays = np.exp(step[..., np.newaxis] * decay)
    inputs = (step * data)[..., np.newaxis] * input_weight[:, :, np.newaxis]
    state, results = np.zeros_like(inputs[:, 0]), np.empty_like(data)
    for i in range(data.shape[1]):
        state = decays[:, i] * state + inputs[:, i]
        results[:, i] = np.matmul(state, output_weight[:, i, :, np.newaxis])[..., 0]
    return results + skip * data


def causal_conv1d(data: Any, weight: Any, bias: Any) -> Any:
    """Return the sum of the weighed data, shifted by as many places as each weight lies in the past."""
    length, width = data.shape[-1], weight.shape[-1]
    wide = np.pad(data, ((0, 0), (0, 0), (width - 1, 0)))
    result = wide[..., :length] * weight[:, :1] + bias[:, np.newaxis]
    for i in range(1, width):
        result += wide[..., i : i + length] * weight[:, i : i + 1]
    return result


BINDINGS: dict[str, Binding] = {
    **states(np, "numpy", False),
    **compositions(
        selective_scan=(selective_scan, "numpy.exp and products; for each step a product, a sum and numpy.matmul"),
        causal_conv1d=(causal_conv1d, "numpy.pad, and a product and a sum for each weight"),
    ),
}
