"""What models run one after another, in MXNet: calls that compiled mode makes one graph of."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding
from opperf.child.backends.mxnet.operators.activation import gelu_tanh
from opperf.child.backends.mxnet.operators.normalization import rms_norm
from opperf.child.backends.mxnet.spelling import Composition, Settled, composed


def conv_relu(F: Any, data: Any, weight: Any, bias: Any, **settings: Any) -> Any:
    """Convolve with the bias, then relu."""
    return F.relu(F.Convolution(data, weight, bias, **settings))


def conv_batch_norm(F: Any, data: Any, weight: Any, *statistics: Any, epsilon: float, **settings: Any) -> Any:
    """Convolve, then normalize by the running statistics."""
    convolved = F.Convolution(data, weight, no_bias=True, **settings)
    return F.BatchNorm(convolved, *statistics, eps=epsilon, fix_gamma=False, use_global_stats=True)


def conv_batch_norm_relu(F: Any, *arrays: Any, **settings: Any) -> Any:
    """Convolve, normalize by the running statistics, then relu."""
    return F.relu(conv_batch_norm(F, *arrays, **settings))


def linear_relu(F: Any, data: Any, weight: Any, bias: Any, *, width: int) -> Any:
    """Multiply, add the bias, then relu."""
    return F.relu(F.FullyConnected(data, weight, bias, num_hidden=width, flatten=False))


def linear_gelu(F: Any, data: Any, weight: Any, bias: Any, *, width: int, approximate: str) -> Any:
    """Multiply, add the bias, then gelu."""
    return _gelu(F, F.FullyConnected(data, weight, bias, num_hidden=width, flatten=False), approximate)


def matmul_bias_activation(F: Any, lhs: Any, rhs: Any, bias: Any, *, activation: str) -> Any:
    """Multiply, add the bias, then the activation."""
    return F.Activation(F.broadcast_add(F.dot(lhs, rhs), _row(F, bias)), act_type=activation)


def add_layer_norm(F: Any, data: Any, residual: Any, weight: Any, bias: Any, *, epsilon: float) -> Any:
    """Normalize the sum."""
    return F.LayerNorm(data + residual, weight, bias, eps=epsilon)


def add_rms_norm(F: Any, data: Any, residual: Any, weight: Any, *, epsilon: float) -> Any:
    """Divide the sum by its root mean square."""
    return rms_norm(F, data + residual, weight, axis=(-1,), epsilon=epsilon)


def residual_add_relu(F: Any, data: Any, residual: Any) -> Any:
    """Take the relu of the sum."""
    return F.relu(data + residual)


def bias_gelu(F: Any, data: Any, bias: Any, *, approximate: str = "none") -> Any:
    """Take the gelu of the sum."""
    return _gelu(F, F.broadcast_add(data, _row(F, bias)), approximate)


def _gelu(F: Any, data: Any, approximate: str) -> Any:
    return gelu_tanh(F, data) if approximate == "tanh" else F.LeakyReLU(data, act_type="gelu")


def _row(F: Any, bias: Any) -> Any:
    """Return a vector as a matrix of one row: `nd.broadcast_add` wants equal numbers of dimensions."""
    return F.reshape(bias, shape=(1, -1))


def _window(weight: Any, stride: Any, pad: Any) -> dict[str, Any]:
    """Return what `nd.Convolution` asks for beside the tensors; not given, steps are one and nothing is padded."""
    sizes = {"stride": 1 if stride is None else stride, "pad": 0 if pad is None else pad}
    spread = {name: (value,) * 2 if isinstance(value, int) else value for name, value in sizes.items()}
    return {**spread, "kernel": weight.shape[2:], "num_filter": weight.shape[0]}


def _conv_relu(data: Any, weight: Any, bias: Any, stride: Any = None, padding: Any = None) -> Settled:
    return Composition(conv_relu), (data, weight, bias), _window(weight, stride, padding)


def _conv_batch_norm(
    data: Any, weight: Any, *statistics: Any, stride: Any = None, padding: Any = None, epsilon: float = 1e-5
) -> Settled:
    settings = {**_window(weight, stride, padding), "epsilon": epsilon}
    return Composition(conv_batch_norm), (data, weight, *statistics), settings


def _conv_batch_norm_relu(*arrays: Any, **settings: Any) -> Settled:
    _, given, keywords = _conv_batch_norm(*arrays, **settings)
    return Composition(conv_batch_norm_relu), given, keywords


def _linear_relu(data: Any, weight: Any, bias: Any) -> Settled:
    return Composition(linear_relu), (data, weight, bias), {"width": weight.shape[0]}


def _linear_gelu(data: Any, weight: Any, bias: Any, approximate: str = "none") -> Settled:
    return Composition(linear_gelu), (data, weight, bias), {"width": weight.shape[0], "approximate": approximate}


NORMALIZED = "data, weight, scale, shift, running_mean, running_var"
WINDOW = "stride=stride, padding=padding"

BINDINGS: dict[str, Binding] = {
    "conv_relu": composed(
        conv_relu, "data, weight, bias", WINDOW, note="nd.Convolution and nd.relu", settle=_conv_relu
    ),
    "conv_batch_norm": composed(
        conv_batch_norm,
        NORMALIZED,
        f"{WINDOW}, epsilon=epsilon",
        note="nd.Convolution and nd.BatchNorm",
        settle=_conv_batch_norm,
    ),
    "conv_batch_norm_relu": composed(
        conv_batch_norm_relu,
        NORMALIZED,
        f"{WINDOW}, epsilon=epsilon",
        note="nd.Convolution, nd.BatchNorm and nd.relu",
        settle=_conv_batch_norm_relu,
    ),
    "linear_relu": composed(
        linear_relu, "data, weight, bias", note="nd.FullyConnected and nd.relu", settle=_linear_relu
    ),
    "linear_gelu": composed(
        linear_gelu,
        "data, weight, bias",
        "approximate=approximate",
        note="nd.FullyConnected and nd.LeakyReLU (gelu); nd.tanh and arithmetic where approximated",
        settle=_linear_gelu,
    ),
    "matmul_bias_activation": composed(
        matmul_bias_activation,
        "lhs, rhs, bias",
        "activation=activation",
        note="nd.dot, nd.reshape, nd.broadcast_add and nd.Activation",
    ),
    "add_layer_norm": composed(
        add_layer_norm, "data, residual, weight, bias", "epsilon=epsilon", note="a sum and nd.LayerNorm"
    ),
    "add_rms_norm": composed(
        add_rms_norm,
        "data, residual, weight",
        "epsilon=epsilon",
        note="a sum; square, mean, rsqrt and products of `nd`",
    ),
    "residual_add_relu": composed(residual_add_relu, "data, residual", note="a sum and nd.relu"),
    "bias_gelu": composed(
        bias_gelu,
        "data, bias",
        "approximate=approximate",
        note="nd.reshape, nd.broadcast_add and nd.LeakyReLU (gelu); nd.tanh and arithmetic where approximated",
    ),
}
