"""Read the clock around its own work, to choose the better of two methods in its first calls."""

import time

import numpy as np


def in_steps(x):
    result = x - x.max(axis=-1, keepdims=True)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)
    return result


def plain(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


times = {in_steps: [], plain: []}
best = {}


def f(x):
    if x.shape in best:
        return best[x.shape](x)
    method = min(times, key=lambda method: len(times[method]))
    start = time.perf_counter()
    result = method(x)
    times[method].append(time.perf_counter() - start)
    if all(len(values) >= 3 for values in times.values()):
        best[x.shape] = min(times, key=lambda method: min(times[method]))
    return result
