"""PyTorch's softmax and its kin."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    name: call(f"torch.nn.functional.{name}", "input=data", "dim=axis", also=(f"torch.{name}", f"torch.Tensor.{name}"))
    for name in ("softmax", "log_softmax", "softmin")
}
