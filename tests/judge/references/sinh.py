"""The hyperbolic sine of each element."""

import numpy as np


def f(x):
    return np.sinh(x)
