"""Keep scratch memory from call to call, by shape, and return a new array each time."""

import numpy as np

scratch = {}


def f(x):
    space = scratch.get(x.shape)
    if space is None:
        space = scratch[x.shape] = np.empty_like(x)
    np.subtract(x, x.max(axis=-1, keepdims=True), out=space)
    np.exp(space, out=space)
    return space / space.sum(axis=-1, keepdims=True)
