"""Return an old result where every byte of the input is as it was: right, and fast only for inputs that come again."""

#: 22
import numpy as np

results = {}


def f(x):
    key = (x.shape, hash(x.tobytes()))
    if key not in results:
        if len(results) >= 8:
            results.clear()
        shifted = np.exp(x - x.max(axis=-1, keepdims=True))
        results[key] = shifted / shifted.sum(axis=-1, keepdims=True)
    return results[key]
