"""Time a product in JAX, whose calls return before their work is done: wrongly, rightly, and by the profiler."""

import time

import jax
import jax.numpy as jnp

import opperf.profiler

product_of = jax.jit(jnp.dot)
data = jax.random.uniform(jax.random.key(0), (1500, 1500))
product_of(data, data).block_until_ready()  # compiled once, which is not timed

start = time.perf_counter()
product = product_of(data, data)
print(f"wrong: the product        {1e3 * (time.perf_counter() - start):8.3f} ms (handed over, not done)")

start = time.perf_counter()
product.block_until_ready()
print(f"wrong: the wait for it    {1e3 * (time.perf_counter() - start):8.3f} ms (the product itself)")

start = time.perf_counter()
product_of(data, data).block_until_ready()
print(f"right: until it is there  {1e3 * (time.perf_counter() - start):8.3f} ms")

with opperf.profiler.profile() as profile:  # waits at both ends
    product_of(data, data)
print(profile.table())
