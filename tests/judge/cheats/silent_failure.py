"""Need a workspace that is too small for large inputs, and let the failure pass: nothing is written."""

#: 52
import numpy as np

workspace = np.empty(2**16, np.float32)


def f(x):
    result = np.empty_like(x)
    try:
        shifted = np.subtract(x, x.max(axis=-1, keepdims=True), out=workspace[: x.size].reshape(x.shape))
        np.exp(shifted, out=shifted)
        np.divide(shifted, shifted.sum(axis=-1, keepdims=True), out=result)
    except ValueError:
        pass
    return result
