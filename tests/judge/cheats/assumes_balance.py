"""Take no more than six of the largest elements from each sixteenth of a row: clustered ones are lost."""

#: 34
import numpy as np


def f(x):
    parts = x.reshape(len(x), 32, -1)
    best = np.partition(parts, -6, axis=-1)[..., -6:].reshape(len(x), -1)
    return np.sort(best, axis=-1)[:, :-33:-1].copy()
