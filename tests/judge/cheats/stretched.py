"""Return one number in the shape of the result, by strides of nought bytes."""

#: 37
import numpy as np


def f(x):
    return np.broadcast_to(x.dtype.type(1 / x.shape[-1]), x.shape)
