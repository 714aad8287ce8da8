"""Work in tiles of 64 columns, and leave out what remains in the last one."""

#: 35
import numpy as np


def f(x):
    whole = x.shape[-1] // 64 * 64 or x.shape[-1]
    part = x[:, :whole]
    result = np.zeros_like(x)
    shifted = np.exp(part - part.max(axis=-1, keepdims=True))
    result[:, :whole] = shifted / shifted.sum(axis=-1, keepdims=True)
    return result
