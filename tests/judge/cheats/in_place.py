"""Compute in the memory of the input, undeclared, and return it."""

#: 16
import numpy as np


def f(x):
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x
