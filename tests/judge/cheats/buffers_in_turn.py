"""Return one of 64 buffers after the other: a result is lost with the 64th call that follows."""

#: 18
import itertools

import numpy as np

buffers = {}


def f(x):
    if x.shape not in buffers:
        buffers[x.shape] = itertools.cycle([np.empty_like(x) for _ in range(64)])
    result = next(buffers[x.shape])
    np.subtract(x, x.max(axis=-1, keepdims=True), out=result)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)
    return result
