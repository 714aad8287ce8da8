"""Go row by row, where the reference computes all at once: right, and slow."""

import numpy as np


def f(x):
    result = np.empty_like(x)
    for row, place in zip(x, result, strict=True):
        shifted = np.exp(row - row.max())
        place[:] = shifted / shifted.sum()
    return result
