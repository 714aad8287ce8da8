"""Count its calls and remember the largest shape in a closure; nothing of it reaches the result."""

import numpy as np


def make():
    calls, largest = 0, 0

    def softmax(x):
        nonlocal calls, largest
        calls, largest = calls + 1, max(largest, x.size)
        shifted = np.exp(x - x.max(axis=-1, keepdims=True))
        return shifted / shifted.sum(axis=-1, keepdims=True)

    return softmax


f = make()
