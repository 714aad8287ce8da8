"""The mean of the softmax over each row, which is 1 divided by the number of columns whatever is in the row."""

import numpy as np


def f(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return (shifted / shifted.sum(axis=-1, keepdims=True)).mean(axis=-1)
