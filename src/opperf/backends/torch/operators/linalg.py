"""PyTorch's parts of matrices."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "trace": call("torch.trace", "input=data"),
    "diagonal": call("torch.diagonal", "input=data", "offset=offset"),
    "triu": call("torch.triu", "input=data", "diagonal=offset"),
    "tril": call("torch.tril", "input=data", "diagonal=offset"),
}
