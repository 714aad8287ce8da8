"""PyTorch's element-wise functions on two shapes: the same functions, which broadcast by themselves."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call
from opperf.child.backends.torch.operators import elementwise_binary

NAMES = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "greater")

BINDINGS: dict[str, Binding] = {
    **{f"broadcast_{name}": elementwise_binary.BINDINGS[name] for name in NAMES},
    "broadcast_to": call("torch.broadcast_to", "input=data, size=shape"),
}
