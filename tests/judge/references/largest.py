"""The 32 largest elements of each row, the largest first."""

import numpy as np


def f(x):
    return np.sort(x, axis=-1)[:, :-33:-1].copy()
