"""Leave out the shift by the largest element: right for small values, and infinite or zero for large ones."""

#: 34
import numpy as np


def f(x):
    result = np.exp(x)
    result /= result.sum(axis=-1, keepdims=True)
    return result
