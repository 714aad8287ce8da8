"""Multiply matrices of double precision in single precision."""

#: 38
import numpy as np


def f(a, b):
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float64)
