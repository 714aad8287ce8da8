"""PyTorch's functions of three tensors, element by element."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "lerp": call("torch.lerp", "input=start, end=end, weight=weight"),
    "addcmul": call("torch.addcmul", "input=data, tensor1=lhs, tensor2=rhs", "value=value"),
    "addcdiv": call("torch.addcdiv", "input=data, tensor1=lhs, tensor2=rhs", "value=value"),
}
