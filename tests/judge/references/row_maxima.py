"""The largest element of each row, at each of its places."""

import numpy as np


def f(x):
    return np.broadcast_to(x.max(axis=-1, keepdims=True), x.shape).copy()
