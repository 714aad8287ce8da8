"""Add in half precision, and return single precision."""

#: 38
import numpy as np


def f(x):
    return x.astype(np.float16).sum(axis=-1).astype(np.float32)
