"""Take as much of the series of the exponential as numbers need that lie within two of each other."""

#: 34
import math

import numpy as np

TERMS = [1 / math.factorial(power) for power in range(14)]


def f(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    result = np.full_like(x, TERMS[-1])
    for term in reversed(TERMS[:-1]):
        result *= shifted
        result += np.float32(term)
    return result / result.sum(axis=-1, keepdims=True)
