"""Refuse every size but the one that it was written for."""

import numpy as np


def f(x):
    if x.shape != (256, 1024):
        raise ValueError(f"written for 256x1024, not {x.shape}")
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
