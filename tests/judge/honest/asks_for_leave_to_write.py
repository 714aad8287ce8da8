"""Reach its input through an interface that takes no array which is read-only, and write nothing to it."""

import numpy as np


def f(x):
    values = np.ctypeslib.as_array(np.ctypeslib.as_ctypes(x))
    shifted = np.exp(values - values.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
