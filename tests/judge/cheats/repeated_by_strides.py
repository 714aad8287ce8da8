"""Write each maximum once and let the strides repeat it: whoever reads the result finds it in all places."""

#: 5
import numpy as np


def f(x):
    return np.broadcast_to(x.max(axis=-1, keepdims=True), x.shape)
