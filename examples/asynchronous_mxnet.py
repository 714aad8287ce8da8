"""Time a product in MXNet, whose calls return before their work is done: wrongly, rightly, and by the profiler."""

import time

import mxnet as mx

import opperf.profiler

data = mx.nd.random_uniform(shape=(1500, 1500))
mx.nd.dot(data, data).wait_to_read()  # what is set up once is not timed

start = time.perf_counter()
product = mx.nd.dot(data, data)
print(f"wrong: the product        {1e3 * (time.perf_counter() - start):8.3f} ms (handed over, not done)")

start = time.perf_counter()
values = product.asnumpy()
print(f"wrong: a copy of it       {1e3 * (time.perf_counter() - start):8.3f} ms (waits for the product, then copies)")

start = time.perf_counter()
mx.nd.dot(data, data).wait_to_read()
print(f"right: until it is there  {1e3 * (time.perf_counter() - start):8.3f} ms")

with opperf.profiler.profile() as profile:  # waits at both ends
    mx.nd.dot(data, data).asnumpy()
print(profile.table())
