"""A script of one operator for JAX: `one_operator_jax.py NAME CALLS SHAPE...`; `measured` is called twice.

What the first call of it sets up, the second one finds.
"""

from __future__ import annotations

import sys
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

OPERATORS = {
    "matmul": jnp.matmul,
    "softmax": jax.nn.softmax,
    "conv2d": partial(lax.conv_general_dilated, window_strides=(1, 1), padding="VALID"),
    "add": jnp.add,
}
name, calls, *shapes = sys.argv[1:]
operator = jax.jit(OPERATORS[name])
keys = jax.random.split(jax.random.key(0), len(shapes))
tensors = [jax.random.uniform(key, tuple(map(int, shape.split("x"))), minval=-1.0) for key, shape in zip(keys, shapes)]


def measure() -> None:
    for _ in range(int(calls)):
        operator(*tensors).block_until_ready()


measure()
measure()
