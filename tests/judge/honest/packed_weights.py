"""Keep the dequantized weights, which are declared to be the same in every call."""

import numpy as np

ready = {}


def f(a, weights, scale):
    key = (weights.__array_interface__["data"][0], weights.shape)
    if key not in ready:
        ready[key] = weights.astype(np.float32) * scale
    return a @ ready[key]
