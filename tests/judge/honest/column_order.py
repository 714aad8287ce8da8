"""Return the right values in column order: the strides are others, the result is the same."""

import numpy as np


def f(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.divide(shifted, shifted.sum(axis=-1, keepdims=True), order="F")
