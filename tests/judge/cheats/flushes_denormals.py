"""Take numbers below the smallest normal one for zero."""

#: 34
import numpy as np

TINY = np.finfo(np.float32).tiny


def f(x):
    result = x * np.float32(0.5)
    result[np.abs(result) < TINY] = 0
    return result
