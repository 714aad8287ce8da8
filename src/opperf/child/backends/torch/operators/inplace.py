"""PyTorch's methods that write into their tensor."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding, call, composed


def set_item(data: Any, updates: Any) -> Any:
    """Replace every element."""
    data[:] = updates
    return data


BINDINGS: dict[str, Binding] = {
    "add_inplace": call("torch.Tensor.add_", "self=lhs, other=rhs"),
    "subtract_inplace": call("torch.Tensor.sub_", "self=lhs, other=rhs"),
    "multiply_inplace": call("torch.Tensor.mul_", "self=lhs, other=rhs"),
    "divide_inplace": call("torch.Tensor.div_", "self=lhs, other=rhs"),
    "remainder_inplace": call("torch.Tensor.remainder_", "self=lhs, other=rhs"),
    "copy_to": call("torch.Tensor.copy_", "self=destination, src=data"),
    "relu_inplace": call("torch.Tensor.relu_", "self=data"),
    "clip_inplace": call("torch.Tensor.clamp_", "self=data", "min=low, max=high"),
    "set_item": composed(set_item, "data, updates", note="`data[:] = updates`"),
}
