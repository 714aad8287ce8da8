"""Softmax and its kin, in the stable form that NumPy users write. Other families build on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, composed


def softmax(data: Any, axis: int) -> Any:
    """Return exponentials that sum to one; the second array is reused for the third."""
    exponentials = np.exp(data - np.max(data, axis=axis, keepdims=True))
    exponentials /= np.sum(exponentials, axis=axis, keepdims=True)
    return exponentials


def log_softmax(data: Any, axis: int) -> Any:
    """Return the logarithm of softmax."""
    shifted = data - np.max(data, axis=axis, keepdims=True)
    shifted -= np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
    return shifted


def softmin(data: Any, axis: int) -> Any:
    """Return the softmax of the negative."""
    return softmax(np.negative(data), axis)


BINDINGS: dict[str, Binding] = {
    "softmax": composed(softmax, "data, axis", note="numpy.max, numpy.exp, numpy.sum and arithmetic"),
    "log_softmax": composed(
        log_softmax, "data, axis", note="numpy.max, numpy.exp, numpy.sum, numpy.log and arithmetic"
    ),
    "softmin": composed(softmin, "data, axis", note="numpy.negative, numpy.max, numpy.exp, numpy.sum and arithmetic"),
}
