"""PyTorch's joining and parting of tensors; the parts are views."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "concatenate": call("torch.cat", "tensors=data", "dim=axis"),
    "stack": call("torch.stack", "tensors=data", "dim=axis"),
    "split": call("torch.chunk", "input=data, chunks=sections", "dim=axis"),
}
