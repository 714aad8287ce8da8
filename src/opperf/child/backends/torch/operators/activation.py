"""PyTorch's activations, from `torch.nn.functional`, but for the two that it sends on to `torch`."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call
from opperf.child.backends.torch.functions import elsewhere

#: What PyTorch calls as the catalog does.
SAME = ("relu", "relu6", "silu", "mish", "selu", "softplus", "softsign")

BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"torch.nn.functional.{name}", "input=data", also=(f"torch.{name}", *elsewhere(name)))
        for name in SAME
    },
    "log_sigmoid": call("torch.nn.functional.logsigmoid", "input=data"),
    "hard_sigmoid": call("torch.nn.functional.hardsigmoid", "input=data"),
    "hard_swish": call("torch.nn.functional.hardswish", "input=data"),
    "sigmoid": call("torch.sigmoid", "input=data", also=("torch.nn.functional.sigmoid", *elsewhere("sigmoid"))),
    "tanh": call("torch.tanh", "input=data", also=("torch.nn.functional.tanh", *elsewhere("tanh"))),
    "gelu": call("torch.nn.functional.gelu", "input=data", "approximate=approximate"),
    "leaky_relu": call("torch.nn.functional.leaky_relu", "input=data", "negative_slope=slope"),
    "elu": call("torch.nn.functional.elu", "input=data", "alpha=alpha"),
    "prelu": call("torch.nn.functional.prelu", "input=data, weight=weight"),
}
