"""Write the first element of each row, and leave the others as the memory was filled before."""

#: 15
import numpy as np


def f(x):
    result = np.zeros_like(x)
    shifted = np.exp(x[:, 0] - x.max(axis=-1))
    result[:, 0] = shifted / x.shape[-1]
    return result
