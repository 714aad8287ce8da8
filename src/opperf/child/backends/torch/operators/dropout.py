"""PyTorch's dropout."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "dropout": call("torch.nn.functional.dropout", "input=data", "p=rate, training=training"),
}
