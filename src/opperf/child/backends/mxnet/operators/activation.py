"""MXNet's activations."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding, call
from opperf.child.backends.mxnet.spelling import Composition, Settled, composed, settled

#: Seen in 1.6.0 and 1.9.1: 0.590 at -1, where the derivative is 0.647.
SELU_GRADIENT = "the gradient of MXNet's `selu` is wrong for negative values"
SQRT_2_OVER_PI = 0.7978845608028654


def gelu_tanh(F: Any, data: Any) -> Any:
    """Compute gelu by its usual approximation."""
    inner = SQRT_2_OVER_PI * (data + 0.044715 * data * data * data)
    return 0.5 * data * (1.0 + F.tanh(inner))


def silu(F: Any, data: Any) -> Any:
    """Multiply with the sigmoid."""
    return data * F.sigmoid(data)


def mish(F: Any, data: Any) -> Any:
    """Multiply with the hyperbolic tangent of the softplus."""
    return data * F.tanh(F.Activation(data, act_type="softrelu"))


def log_sigmoid(F: Any, data: Any) -> Any:
    """Turn softplus around: log(sigmoid(x)) is -softplus(-x)."""
    return F.negative(F.Activation(F.negative(data), act_type="softrelu"))


def hard_swish(F: Any, data: Any) -> Any:
    """Multiply with the hard sigmoid."""
    return data * F.hard_sigmoid(data, alpha=1 / 6, beta=0.5)


def _gelu(data: Any, approximate: str = "none") -> Settled:
    if approximate == "tanh":
        return Composition(gelu_tanh), (data,), {}
    return "nd.LeakyReLU", (data,), {"act_type": "gelu"}


BINDINGS: dict[str, Binding] = {
    "relu": call("nd.relu", "data", also=("npx.relu",)),
    "relu6": call("nd.clip", "data, 0.0, 6.0"),
    "sigmoid": call("nd.sigmoid", "data", also=("npx.sigmoid",)),
    "tanh": call("nd.tanh", "data", also=("np.tanh",)),
    "gelu": settled("nd.LeakyReLU", "data", "approximate=approximate", settle=_gelu),
    "silu": composed(silu, "data", note="nd.sigmoid and a product, composed"),
    "mish": composed(mish, "data", note="nd.Activation (softrelu), nd.tanh and a product, composed"),
    "leaky_relu": call("nd.LeakyReLU", "data", "act_type='leaky', slope=slope"),
    "elu": call("nd.LeakyReLU", "data", "act_type='elu', slope=alpha"),
    "selu": call(
        "nd.LeakyReLU",
        "data",
        "act_type='selu'",
        unsupported=dict.fromkeys(("backward", "forward_backward"), SELU_GRADIENT),
    ),
    "softplus": call("nd.Activation", "data", "act_type='softrelu'"),
    "softsign": call("nd.softsign", "data"),
    "log_sigmoid": composed(log_sigmoid, "data", note="nd.Activation (softrelu) between two sign changes, composed"),
    "hard_sigmoid": call("nd.hard_sigmoid", "data", f"alpha={1 / 6}, beta=0.5"),
    "hard_swish": composed(hard_swish, "data", note="nd.hard_sigmoid and a product, composed"),
    "prelu": call("nd.LeakyReLU", "data=data, gamma=weight", "act_type='prelu'"),
}
