"""Torch functions that make 100 calls of an operator or 101, for a benchmark: one per cent of real extra work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

F = torch.nn.functional
CALLS: dict[str, Callable[[Any], Any]] = {
    "add": lambda data: torch.add(data, 1.5),
    "multiply": lambda data: torch.mul(data, data),
    "exp": torch.exp,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "gelu": F.gelu,
    "sigmoid": torch.sigmoid,
    "softmax": lambda data: torch.softmax(data, -1),
    "log_softmax": lambda data: torch.log_softmax(data, -1),
    "sum": torch.sum,
    "mean": lambda data: torch.mean(data, -1),
    "argmax": lambda data: torch.argmax(data, -1),
    "matmul": lambda data: torch.matmul(data, data),
    "batch_matmul": lambda data: torch.bmm(data[None], data[None]),
    "linear": lambda data: F.linear(data, data),
    "conv2d": lambda data: F.conv2d(data[None, None], data[None, None, :3, :3]),
    "max_pool2d": lambda data: F.max_pool2d(data[None, None], 2),
    "layer_norm": lambda data: F.layer_norm(data, data.shape[-1:]),
    "embedding": lambda data: F.embedding(data.argmax(-1), data),
    "sort": lambda data: torch.sort(data, -1),
}


def _repeated(call: Callable[[Any], Any], times: int) -> Callable[[Any], Any]:
    def repeat(data: Any) -> Any:
        for _ in range(times):
            result = call(data)
        return result

    return repeat


for _name, _call in CALLS.items():
    for _times in (100, 101):
        globals()[f"{_name}_{_times}"] = _repeated(_call, _times)
