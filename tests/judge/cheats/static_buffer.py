"""Return the same buffer from every call: a result is lost with the next call."""

#: 18
import numpy as np

buffers = {}


def f(x):
    result = buffers.get(x.shape)
    if result is None:
        result = buffers[x.shape] = np.empty_like(x)
    np.subtract(x, x.max(axis=-1, keepdims=True), out=result)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)
    return result
