"""PyTorch's sorting and selecting."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    # Returns the indices as well; there is no sort without them.
    "sort": call("torch.sort", "input=data", "dim=axis, descending=descending"),
    "argsort": call("torch.argsort", "input=data", "dim=axis, descending=descending"),
    "topk": call("torch.topk", "input=data, k=k", "dim=axis, largest=largest"),
}
