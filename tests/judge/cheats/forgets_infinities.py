"""Limit elements to plus or minus 100 first: wrong for large ones and for infinities."""

#: 34
import numpy as np


def f(x):
    return np.clip(x, -100, 100) * x.dtype.type(0.5)
