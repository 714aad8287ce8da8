"""Compute blocks of 32 rows that stay in the cache, the last one shorter where it must be."""

import numpy as np


def f(x):
    result = np.empty_like(x)
    for start in range(0, len(x), 32):
        part, place = x[start : start + 32], result[start : start + 32]
        np.subtract(part, part.max(axis=-1, keepdims=True), out=place)
        np.exp(place, out=place)
        place /= place.sum(axis=-1, keepdims=True)
    return result
