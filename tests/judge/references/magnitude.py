"""The absolute value of each element."""

import numpy as np


def f(x):
    return np.abs(x)
