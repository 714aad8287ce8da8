"""Compute on two threads of its own, which is declared by the number of threads that the side has."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

pool = ThreadPoolExecutor(2)


def work(x, result):
    np.subtract(x, x.max(axis=-1, keepdims=True), out=result)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)


def f(x):
    result = np.empty_like(x)
    half = len(x) // 2
    for job in [pool.submit(work, x[part], result[part]) for part in (slice(half), slice(half, None))]:
        job.result()
    return result
