"""Normalization, softmax and dropout in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays import normalization as arrays
from opperf.child.backends.arrays.normalization import along_channels, last_axes, normalizations, or_usual
from opperf.child.backends.binding import Binding, composition
from opperf.child.backends.numpy.functions import generator

# Normalizations, which NumPy users write with `numpy.mean`, `numpy.var` and arithmetic.

#: How far the running statistics move towards those of a batch.
MOMENTUM = 0.1
NOTE = "numpy.mean, numpy.var, numpy.sqrt and arithmetic"


def batch_norm(
    data: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool | None, epsilon: float
) -> Any:
    """Return each channel (axis 1) normalized; in training, by the batch, whose statistics move the running ones."""
    if training is False:
        mean, variance = running_mean, running_var
    else:
        axes = (0, *range(2, data.ndim))
        mean, variance = np.mean(data, axis=axes), np.var(data, axis=axes)
        count = data.size // data.shape[1]
        running_mean += MOMENTUM * (mean - running_mean)
        running_var += MOMENTUM * (variance * (count / max(1, count - 1)) - running_var)
    scale = weight / np.sqrt(variance + epsilon)
    return data * along_channels(scale, data) + along_channels(bias - mean * scale, data)


def rms_norm(data: Any, weight: Any, epsilon: float | None) -> Any:
    """Return the data over the root mean square of as many last dimensions as the weight has."""
    squares = np.mean(np.square(data), axis=last_axes(weight), keepdims=True)
    return data / np.sqrt(squares + or_usual(epsilon)) * weight


def l2_normalize(data: Any, axis: Any, epsilon: float) -> Any:
    return data / np.maximum(np.linalg.norm(data, axis=axis, keepdims=True), epsilon)


def standardize(data: Any, axes: Any, epsilon: float) -> Any:
    """Return data with a mean of 0 and a variance of 1 along axes."""
    mean = np.mean(data, axis=axes, keepdims=True)
    variance = np.var(data, axis=axes, keepdims=True)
    return (data - mean) / np.sqrt(variance + epsilon)


layer_norm = arrays.layer_norm(standardize)


# Softmax and its kin, in the stable form that NumPy users write. Other families build on it.


def softmax(data: Any, axis: int) -> Any:
    """Return exponentials that sum to one; the second array is reused for the third."""
    exponentials = np.exp(data - np.max(data, axis=axis, keepdims=True))
    exponentials /= np.sum(exponentials, axis=axis, keepdims=True)
    return exponentials


def log_softmax(data: Any, axis: int) -> Any:
    shifted = data - np.max(data, axis=axis, keepdims=True)
    shifted -= np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
    return shifted


def softmin(data: Any, axis: int) -> Any:
    return softmax(np.negative(data), axis)


# Dropout, which NumPy users write as a random mask and two products.


def dropout(data: Any, chance: tuple[float, np.random.Generator], training: bool | None) -> Any:
    """Return zeros with the probability `rate`, the rest scaled up; the input itself when not training."""
    rate, draws = chance
    if training is False or rate == 0:
        return data
    if rate >= 1:
        return np.zeros_like(data)
    result = data * (draws.random(data.shape, dtype=np.float32) >= rate)
    result *= 1.0 / (1.0 - rate)
    return result


def with_generator(rate: float) -> tuple[float, np.random.Generator]:
    """Return the rate beside a generator, which is made once for a bound call."""
    return rate, generator()


BINDINGS: dict[str, Binding] = {
    "batch_norm": composition(batch_norm, note=f"{NOTE}; momentum 0.1"),
    **normalizations(standardize, NOTE),
    "rms_norm": composition(rms_norm, note="numpy.square, numpy.mean, numpy.sqrt and arithmetic"),
    "l2_normalize": composition(l2_normalize, note="numpy.linalg.norm, numpy.maximum and numpy.divide"),
    "softmax": composition(softmax, note="numpy.max, numpy.exp, numpy.sum and arithmetic"),
    "log_softmax": composition(log_softmax, note="numpy.max, numpy.exp, numpy.sum, numpy.log and arithmetic"),
    "softmin": composition(softmin, note="numpy.negative, numpy.max, numpy.exp, numpy.sum and arithmetic"),
    "dropout": composition(
        dropout,
        "data, chance=rate, training=training",
        adapt={"rate": with_generator},
        note="numpy.random.Generator.random in float32, numpy.greater_equal and numpy.multiply twice",
    ),
}
