"""PyTorch's brackets, layouts and way to NumPy."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, Call, call, composed, parameters


def to_numpy(data: Any) -> Any:
    """Return an array of NumPy: on a CPU a view, from a device a copy."""
    return data.cpu().numpy()


def shape_array(data: Any) -> Any:
    """Return the shape."""
    return torch.tensor(data.shape)


def size_array(data: Any) -> Any:
    """Return the number of elements."""
    return torch.tensor([data.numel()])


BINDINGS: dict[str, Binding] = {
    "get_item": Call(
        "torch.Tensor.__getitem__", parameters("data, index"), function=torch.Tensor.__getitem__, note="`data[index]`"
    ),
    "shape_array": composed(shape_array, "data", note="torch.tensor of the shape"),
    "size_array": composed(size_array, "data", note="torch.tensor of torch.Tensor.numel"),
    "item": call("torch.Tensor.item", "self=data"),
    "to_device": call("torch.Tensor.to", "self=data, device=device"),
    "contiguous": call("torch.Tensor.contiguous", "self=data"),
    "to_numpy": composed(to_numpy, "data", note="torch.Tensor.cpu and torch.Tensor.numpy"),
}
