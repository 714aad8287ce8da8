"""Keep its state in a generator, which computes each input that is sent to it."""

import numpy as np


def work():
    result = None
    while True:
        x = yield result
        result = x - x.max(axis=-1, keepdims=True)
        np.exp(result, out=result)
        result /= result.sum(axis=-1, keepdims=True)


worker = work()
next(worker)


def f(x):
    return worker.send(x)
