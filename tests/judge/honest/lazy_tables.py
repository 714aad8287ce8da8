"""Build a table for each number of columns at its first call; the table depends on nothing but the shape."""

import numpy as np

ones = {}


def f(x):
    columns = x.shape[-1]
    if columns not in ones:
        ones[columns] = np.ones((columns, 1), np.float32)
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    shifted /= shifted @ ones[columns]
    return shifted
