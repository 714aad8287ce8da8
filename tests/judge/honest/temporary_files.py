"""Write a table to the folder of temporary files while it is loaded, and map it into memory."""

import tempfile

import numpy as np

with tempfile.NamedTemporaryFile(suffix=".npy") as file:
    np.save(file, np.ones((4096, 1), np.float32))
    file.flush()
    ones = np.load(file.name, mmap_mode="r")


def f(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    if x.shape[-1] > len(ones):
        return shifted / shifted.sum(axis=-1, keepdims=True)
    return shifted / (shifted @ ones[: x.shape[-1]])
