"""Let a second thread compute half of the rows: right, with two processors of one."""

#: 3
from concurrent.futures import ThreadPoolExecutor

import numpy as np

pool = ThreadPoolExecutor(1)


def work(x, result):
    np.subtract(x, x.max(axis=-1, keepdims=True), out=result)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)


def f(x):
    result = np.empty_like(x)
    half = len(x) // 2
    other = pool.submit(work, x[:half], result[:half])
    work(x[half:], result[half:])
    other.result()
    return result
