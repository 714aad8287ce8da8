"""PyTorch's brackets, layouts and way to NumPy."""

from __future__ import annotations

from typing import Any

import torch

from opperf.backends.call import Binding, Call, call, composed, parameters


def to_numpy(data: Any) -> Any:
    """Return an array of NumPy: on a CPU a view, from a device a copy."""
    return data.cpu().numpy()


BINDINGS: dict[str, Binding] = {
    "get_item": Call(
        "torch.Tensor.__getitem__", parameters("data, index"), function=torch.Tensor.__getitem__, note="`data[index]`"
    ),
    "contiguous": call("torch.Tensor.contiguous", "self=data"),
    "to_numpy": composed(to_numpy, "data", note="torch.Tensor.cpu and torch.Tensor.numpy"),
}
