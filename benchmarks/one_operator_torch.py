"""A script of one operator for PyTorch: `one_operator_torch.py NAME CALLS SHAPE...`; `measured` is called twice.

What the first call of it sets up, the second one finds.
"""

from __future__ import annotations

import sys
from functools import partial

import torch
from torch.nn import functional

OPERATORS = {"matmul": torch.matmul, "softmax": partial(torch.softmax, dim=-1), "conv2d": functional.conv2d,
             "add": torch.add}  # fmt: skip
name, calls, *shapes = sys.argv[1:]
operator = OPERATORS[name]
tensors = [2 * torch.rand(*map(int, shape.split("x"))) - 1 for shape in shapes]


def measure() -> None:
    for _ in range(int(calls)):
        operator(*tensors)


torch.set_num_threads(1)
with torch.no_grad():
    measure()
    measure()
