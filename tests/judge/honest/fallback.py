"""Try a method that does not take every input, and take another one where it fails."""

import numpy as np


def whole(x):
    result = x - x.max(axis=-1, keepdims=True)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)
    return result


def by_tiles(x):
    """Take tiles of 64 rows; others are refused."""
    return np.concatenate([whole(tile) for tile in x.reshape(-1, 64, x.shape[-1])])


def f(x):
    try:
        return by_tiles(x)
    except ValueError:
        return whole(x)
