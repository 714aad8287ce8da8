"""PyTorch's optimizer steps, each as one call that changes the weight in place."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "sgd_update": call("torch.Tensor.sub_", "self=weight, other=gradient", "alpha=learning_rate"),
}
