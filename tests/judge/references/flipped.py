"""Each row backwards, in memory of its own."""

import numpy as np


def f(x):
    return np.ascontiguousarray(x[:, ::-1])
