"""Functions that make 100 calls of an operator or 101, for a benchmark: one per cent of real extra work.

They are those of PyTorch where the file is loaded beside it, else those of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any


def _of_torch() -> dict[str, Callable[[Any], Any]]:
    import torch

    F = torch.nn.functional
    return {
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


def _of_numpy() -> dict[str, Callable[[Any], Any]]:
    import numpy as np

    return {
        "add": lambda data: np.add(data, 1.5),
        "multiply": lambda data: np.multiply(data, data),
        "exp": np.exp,
        "tanh": np.tanh,
        "sqrt": lambda data: np.sqrt(np.abs(data)),
        "sin": np.sin,
        "maximum": lambda data: np.maximum(data, 0.0),
        "floor": np.floor,
        "sum": np.sum,
        "mean": lambda data: np.mean(data, -1),
        "max": lambda data: np.max(data, -1),
        "argmax": lambda data: np.argmax(data, -1),
        "cumsum": lambda data: np.cumsum(data, -1),
        "sort": lambda data: np.sort(data, -1),
        "matmul": lambda data: np.matmul(data, data),
        "batch_matmul": lambda data: np.matmul(data[None], data[None]),
        "concatenate": lambda data: np.concatenate((data, data)),
        "transpose": lambda data: np.ascontiguousarray(np.transpose(data)),
        "where": lambda data: np.where(data > 0, data, 0.0),
        "take": lambda data: np.take(data, (3, 1, 2), 0),
    }


def _repeat(call: Callable[[Any], Any], times: int) -> Callable[[Any], Any]:
    def repeat(data: Any) -> Any:
        for _ in range(times):
            result = call(data)
        return result

    return repeat


for _name, _call in (_of_torch if find_spec("torch") else _of_numpy)().items():
    for _times in (100, 101):
        globals()[f"{_name}_{_times}"] = _repeat(_call, _times)
