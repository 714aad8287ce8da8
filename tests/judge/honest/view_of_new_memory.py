"""Return a view that begins at a multiple of 64 bytes within memory that is new in each call."""

import numpy as np


def f(x):
    memory = np.empty(x.nbytes + 64, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64
    result = memory[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    np.subtract(x, x.max(axis=-1, keepdims=True), out=result)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)
    return result
