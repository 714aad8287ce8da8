"""Activations, gated ones, and what compilers fuse with them in MXNet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opperf.child.backends.arrays.windows import spread
from opperf.child.backends.binding import Binding, Call, call
from opperf.child.backends.mxnet.operators.normalization import rms_norm
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, adjust, composition, extent

# MXNet's activations.

#: Seen in 1.6.0 and 1.9.1: 0.590 at -1, where the derivative is 0.647.
SELU_GRADIENT = "the gradient of MXNet's `selu` is wrong for negative values"
SQRT_2_OVER_PI = 0.7978845608028654


def gelu_tanh(F: Any, data: Any) -> Any:
    """Compute gelu by its usual approximation."""
    inner = SQRT_2_OVER_PI * (data + 0.044715 * data * data * data)
    return 0.5 * data * (1.0 + F.tanh(inner))


def silu(F: Any, data: Any) -> Any:
    return data * F.sigmoid(data)


def mish(F: Any, data: Any) -> Any:
    return data * F.tanh(F.Activation(data, act_type="softrelu"))


def log_sigmoid(F: Any, data: Any) -> Any:
    """Turn softplus around: log(sigmoid(x)) is -softplus(-x)."""
    return F.negative(F.Activation(F.negative(data), act_type="softrelu"))


def hard_swish(F: Any, data: Any) -> Any:
    return data * F.hard_sigmoid(data, alpha=1 / 6, beta=0.5)


def _gelu(data: Any, approximate: str = "none") -> CallSpec:
    if approximate == "tanh":
        return Composition(gelu_tanh), (data,), {}
    return "nd.LeakyReLU", (data,), {"act_type": "gelu"}


# Gated activations in MXNet: two halves, an activation and a product.


def _gate(name: str, activation: Callable[..., Any], note: str, keywords: str = "") -> Call:
    def gated(F: Any, data: Any, **settings: Any) -> Any:
        first, second = F.split(data, num_outputs=2, axis=-1)
        return first * activation(F, second, **settings)

    gated.__name__ = name
    return composition(gated, "data", keywords, note=f"nd.split, {note}")


def _gelu_of(F: Any, data: Any, approximate: str = "none") -> Any:
    return gelu_tanh(F, data) if approximate == "tanh" else F.LeakyReLU(data, act_type="gelu")


GELU = "nd.LeakyReLU (gelu) and a product; nd.tanh and arithmetic where approximated"


# What models run one after another, in MXNet: calls that compiled mode makes one graph of.


def conv_relu(F: Any, data: Any, weight: Any, bias: Any, **settings: Any) -> Any:
    return F.relu(F.Convolution(data, weight, bias, **settings))


def conv_batch_norm(F: Any, data: Any, weight: Any, *statistics: Any, epsilon: float, **settings: Any) -> Any:
    convolved = F.Convolution(data, weight, no_bias=True, **settings)
    return F.BatchNorm(convolved, *statistics, eps=epsilon, fix_gamma=False, use_global_stats=True)


def conv_batch_norm_relu(F: Any, *arrays: Any, **settings: Any) -> Any:
    return F.relu(conv_batch_norm(F, *arrays, **settings))


def linear_relu(F: Any, data: Any, weight: Any, bias: Any, *, width: int) -> Any:
    return F.relu(F.FullyConnected(data, weight, bias, num_hidden=width, flatten=False))


def linear_gelu(F: Any, data: Any, weight: Any, bias: Any, *, width: int, approximate: str = "none") -> Any:
    return _gelu_of(F, F.FullyConnected(data, weight, bias, num_hidden=width, flatten=False), approximate)


def matmul_bias_activation(F: Any, lhs: Any, rhs: Any, bias: Any, *, activation: str) -> Any:
    return F.Activation(F.broadcast_add(F.dot(lhs, rhs), _row(F, bias)), act_type=activation)


def add_layer_norm(F: Any, data: Any, residual: Any, weight: Any, bias: Any, *, epsilon: float) -> Any:
    return F.LayerNorm(data + residual, weight, bias, eps=epsilon)


def add_rms_norm(F: Any, data: Any, residual: Any, weight: Any, *, epsilon: float) -> Any:
    return rms_norm(F, data + residual, weight, axis=(-1,), epsilon=epsilon)


def residual_add_relu(F: Any, data: Any, residual: Any) -> Any:
    return F.relu(data + residual)


def bias_gelu(F: Any, data: Any, bias: Any, *, approximate: str = "none") -> Any:
    return _gelu_of(F, F.broadcast_add(data, _row(F, bias)), approximate)


def _row(F: Any, bias: Any) -> Any:
    """Return a vector as a matrix of one row: `nd.broadcast_add` wants equal numbers of dimensions."""
    return F.reshape(bias, shape=(1, -1))


def _window(weight: Any, stride: Any, pad: Any) -> dict[str, Any]:
    """Return the settings of `nd.Convolution`; not given, steps are one and nothing is padded."""
    sizes = {"stride": spread(stride, 2, 1), "pad": spread(pad, 2, 0)}
    return {**sizes, "kernel": weight.shape[2:], "num_filter": weight.shape[0]}


def _conv_relu(data: Any, weight: Any, bias: Any, stride: Any = None, padding: Any = None) -> CallSpec:
    return Composition(conv_relu), (data, weight, bias), _window(weight, stride, padding)


def _conv_batch_norm(
    data: Any, weight: Any, *statistics: Any, stride: Any = None, padding: Any = None, epsilon: float = 1e-5
) -> CallSpec:
    settings = {**_window(weight, stride, padding), "epsilon": epsilon}
    return Composition(conv_batch_norm), (data, weight, *statistics), settings


def _conv_batch_norm_relu(*arrays: Any, **settings: Any) -> CallSpec:
    _, inputs, keywords = _conv_batch_norm(*arrays, **settings)
    return Composition(conv_batch_norm_relu), inputs, keywords


NORMALIZED = "data, weight, scale, shift, running_mean, running_var"
WINDOW = "stride=stride, padding=padding"
WIDTH = {"width": extent("weight", 0)}


BINDINGS: dict[str, Binding] = {
    "relu": call("nd.relu", "data", also=("npx.relu",)),
    "relu6": call("nd.clip", "data, 0.0, 6.0"),
    "sigmoid": call("nd.sigmoid", "data", also=("npx.sigmoid",)),
    "tanh": call("nd.tanh", "data", also=("np.tanh",)),
    "gelu": adjust("nd.LeakyReLU", "data", "approximate=approximate", settle=_gelu),
    "silu": composition(silu, note="nd.sigmoid and a product, composed"),
    "mish": composition(mish, note="nd.Activation (softrelu), nd.tanh and a product, composed"),
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
    "log_sigmoid": composition(log_sigmoid, note="nd.Activation (softrelu) between two sign changes, composed"),
    "hard_sigmoid": call("nd.hard_sigmoid", "data", f"alpha={1 / 6}, beta=0.5"),
    "hard_swish": composition(hard_swish, note="nd.hard_sigmoid and a product, composed"),
    "prelu": call("nd.LeakyReLU", "data=data, gamma=weight", "act_type='prelu'"),
    "glu": _gate("glu", lambda F, data: F.sigmoid(data), "nd.sigmoid and a product"),
    "reglu": _gate("reglu", lambda F, data: F.relu(data), "nd.relu and a product"),
    "swiglu": _gate("swiglu", silu, "nd.sigmoid and two products"),
    "geglu": _gate("geglu", _gelu_of, GELU, "approximate=approximate"),
    "conv_relu": composition(conv_relu, note="nd.Convolution and nd.relu", settle=_conv_relu),
    "conv_batch_norm": composition(
        conv_batch_norm,
        NORMALIZED,
        f"{WINDOW}, epsilon=epsilon",
        note="nd.Convolution and nd.BatchNorm",
        settle=_conv_batch_norm,
    ),
    "conv_batch_norm_relu": composition(
        conv_batch_norm_relu,
        NORMALIZED,
        f"{WINDOW}, epsilon=epsilon",
        note="nd.Convolution, nd.BatchNorm and nd.relu",
        settle=_conv_batch_norm_relu,
    ),
    "linear_relu": composition(
        linear_relu, "data, weight, bias", "width=width", derive=WIDTH, note="nd.FullyConnected and nd.relu"
    ),
    "linear_gelu": composition(
        linear_gelu,
        "data, weight, bias",
        "width=width, approximate=approximate",
        derive=WIDTH,
        note="nd.FullyConnected and nd.LeakyReLU (gelu); nd.tanh and arithmetic where approximated",
    ),
    "matmul_bias_activation": composition(
        matmul_bias_activation, note="nd.dot, nd.reshape, nd.broadcast_add and nd.Activation"
    ),
    "add_layer_norm": composition(add_layer_norm, note="a sum and nd.LayerNorm"),
    "add_rms_norm": composition(add_rms_norm, note="a sum; square, mean, rsqrt and products of `nd`"),
    "residual_add_relu": composition(residual_add_relu, note="a sum and nd.relu"),
    "bias_gelu": composition(
        bias_gelu,
        note="nd.reshape, nd.broadcast_add and nd.LeakyReLU (gelu); nd.tanh and arithmetic where approximated",
    ),
}
