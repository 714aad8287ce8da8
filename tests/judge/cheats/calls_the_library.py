"""Compute what the reference computes, in its own words: neither wrong nor faster."""

#: 48
import numpy as np


def f(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
