"""Compute all rows at once, where the reference goes row by row: right, and fast."""

import numpy as np


def f(x):
    result = x - x.max(axis=-1, keepdims=True)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)
    return result
