"""Print a line to both streams when it is loaded, and one each hundred calls."""

import logging
import sys

import numpy as np

logging.basicConfig(stream=sys.stderr, level=logging.INFO)
logging.info("softmax is ready")
print("softmax is ready")
calls = 0


def f(x):
    global calls
    calls += 1
    if calls % 100 == 0:
        print(f"{calls} calls")
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
