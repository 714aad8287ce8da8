"""Gated activations in MXNet: two halves, an activation and a product."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding
from opperf.child.backends.mxnet.operators.activation import gelu_tanh
from opperf.child.backends.mxnet.spelling import composed


def glu(F: Any, data: Any) -> Any:
    """Multiply the first half with the sigmoid of the second."""
    first, second = F.split(data, num_outputs=2, axis=-1)
    return first * F.sigmoid(second)


def reglu(F: Any, data: Any) -> Any:
    """Multiply the first half with the relu of the second."""
    first, second = F.split(data, num_outputs=2, axis=-1)
    return first * F.relu(second)


def swiglu(F: Any, data: Any) -> Any:
    """Multiply the first half with the second and its sigmoid."""
    first, second = F.split(data, num_outputs=2, axis=-1)
    return first * (second * F.sigmoid(second))


def geglu(F: Any, data: Any, *, approximate: str = "none") -> Any:
    """Multiply the first half with the gelu of the second."""
    first, second = F.split(data, num_outputs=2, axis=-1)
    return first * (gelu_tanh(F, second) if approximate == "tanh" else F.LeakyReLU(second, act_type="gelu"))


BINDINGS: dict[str, Binding] = {
    "glu": composed(glu, "data", note="nd.split, nd.sigmoid and a product"),
    "reglu": composed(reglu, "data", note="nd.split, nd.relu and a product"),
    "swiglu": composed(swiglu, "data", note="nd.split, nd.sigmoid and two products"),
    "geglu": composed(
        geglu,
        "data",
        "approximate=approximate",
        note="nd.split, nd.LeakyReLU (gelu) and a product; nd.tanh and arithmetic where approximated",
    ),
}
