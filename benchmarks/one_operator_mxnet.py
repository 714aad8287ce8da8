"""A script of one operator for MXNet: `one_operator_mxnet.py NAME CALLS SHAPE...`; `measured` is called twice.

What the first call of it sets up, the second one finds.
"""

from __future__ import annotations

import sys
from typing import Any

from mxnet import nd


def conv2d(data: Any, weight: Any) -> Any:
    return nd.Convolution(data, weight, kernel=weight.shape[2:], num_filter=weight.shape[0], no_bias=True)


OPERATORS = {"matmul": nd.dot, "softmax": nd.softmax, "conv2d": conv2d, "add": nd.add}
name, calls, *shapes = sys.argv[1:]
operator = OPERATORS[name]
tensors = [nd.random.uniform(-1, 1, tuple(map(int, shape.split("x")))) for shape in shapes]


def measure() -> None:
    for _ in range(int(calls)):
        operator(*tensors)
    nd.waitall()


measure()
measure()
