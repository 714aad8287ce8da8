"""Activations, gated ones, and what compilers fuse with them in PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from opperf.child.backends.call import Binding, call, composed
from opperf.child.backends.torch.functions import elsewhere

# PyTorch's activations, from `torch.nn.functional`, but for the two that it sends on to `torch`.

#: What PyTorch calls as the catalog does.
SAME = ("relu", "relu6", "silu", "mish", "selu", "softplus", "softsign")

_ACTIVATION: dict[str, Binding] = {
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


# Gated activations in PyTorch: one function for glu, a product of two halves for the others.


def reglu(data: Any) -> Any:
    """Return the first half times the relu of the second."""
    first, second = data.chunk(2, dim=-1)
    return first * F.relu(second)


def swiglu(data: Any) -> Any:
    """Return the first half times the silu of the second."""
    first, second = data.chunk(2, dim=-1)
    return first * F.silu(second)


def geglu(data: Any, approximate: str | None) -> Any:
    """Return the first half times the gelu of the second."""
    first, second = data.chunk(2, dim=-1)
    return first * F.gelu(second, approximate=approximate or "none")


_GATED: dict[str, Binding] = {
    "glu": call("torch.nn.functional.glu", "input=data", "dim=-1"),
    "reglu": composed(reglu, "data", note="torch.chunk, torch.nn.functional.relu and a product"),
    "swiglu": composed(swiglu, "data", note="torch.chunk, torch.nn.functional.silu and a product"),
    "geglu": composed(geglu, "data, approximate", note="torch.chunk, torch.nn.functional.gelu and a product"),
}


# What models run one after another, in PyTorch: calls that compiled mode makes one program of.

ACTIVATIONS = {"relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh}


def conv_relu(data: Any, weight: Any, bias: Any, stride: Any, padding: Any) -> Any:
    """Return the relu of the convolution with its bias."""
    return F.relu(F.conv2d(data, weight, bias, stride=stride, padding=padding))


def conv_batch_norm(
    data: Any,
    weight: Any,
    scale: Any,
    shift: Any,
    running_mean: Any,
    running_var: Any,
    stride: Any,
    padding: Any,
    epsilon: float,
) -> Any:
    """Return the convolution, normalized by the running statistics."""
    convolved = F.conv2d(data, weight, stride=stride, padding=padding)
    return F.batch_norm(convolved, running_mean, running_var, scale, shift, training=False, eps=epsilon)


def conv_batch_norm_relu(*arguments: Any) -> Any:
    """Return the relu of the normalized convolution."""
    return F.relu(conv_batch_norm(*arguments))


def linear_relu(data: Any, weight: Any, bias: Any) -> Any:
    """Return the relu of the product with its bias."""
    return F.relu(F.linear(data, weight, bias))


def linear_gelu(data: Any, weight: Any, bias: Any, approximate: str | None) -> Any:
    """Return the gelu of the product with its bias."""
    return F.gelu(F.linear(data, weight, bias), approximate=approximate or "none")


def matmul_bias_activation(lhs: Any, rhs: Any, bias: Any, activation: str) -> Any:
    """Return an activation of the product with its bias."""
    return ACTIVATIONS[activation](torch.addmm(bias, lhs, rhs))


def add_layer_norm(data: Any, residual: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    """Return the normalized sum."""
    return F.layer_norm(data + residual, tuple(weight.shape), weight, bias, eps=epsilon)


def add_rms_norm(data: Any, residual: Any, weight: Any, epsilon: float) -> Any:
    """Return the sum over its root mean square."""
    return F.rms_norm(data + residual, tuple(weight.shape), weight, eps=epsilon)


def residual_add_relu(data: Any, residual: Any) -> Any:
    """Return the relu of the sum."""
    return F.relu(data + residual)


def bias_gelu(data: Any, bias: Any, approximate: str | None) -> Any:
    """Return the gelu of the sum."""
    return F.gelu(data + bias, approximate=approximate or "none")


NORMALIZED = "data, weight, scale, shift, running_mean, running_var, stride, padding, epsilon"
NOTE = "torch.nn.functional"

_FUSED: dict[str, Binding] = {
    "conv_relu": composed(conv_relu, "data, weight, bias, stride, padding", note=f"{NOTE}.conv2d and relu"),
    "conv_batch_norm": composed(conv_batch_norm, NORMALIZED, note=f"{NOTE}.conv2d and batch_norm"),
    "conv_batch_norm_relu": composed(conv_batch_norm_relu, NORMALIZED, note=f"{NOTE}.conv2d, batch_norm and relu"),
    "linear_relu": composed(linear_relu, "data, weight, bias", note=f"{NOTE}.linear and relu"),
    "linear_gelu": composed(linear_gelu, "data, weight, bias, approximate", note=f"{NOTE}.linear and gelu"),
    "matmul_bias_activation": composed(
        matmul_bias_activation, "lhs, rhs, bias, activation", note="torch.addmm, and torch.relu, sigmoid or tanh"
    ),
    "add_layer_norm": composed(
        add_layer_norm, "data, residual, weight, bias, epsilon", note=f"a sum and {NOTE}.layer_norm"
    ),
    "add_rms_norm": composed(add_rms_norm, "data, residual, weight, epsilon", note=f"a sum and {NOTE}.rms_norm"),
    "residual_add_relu": composed(residual_add_relu, "data, residual", note=f"a sum and {NOTE}.relu"),
    "bias_gelu": composed(bias_gelu, "data, bias, approximate", note=f"a sum and {NOTE}.gelu"),
}


BINDINGS: dict[str, Binding] = {
    **_ACTIVATION,
    **_GATED,
    **_FUSED,
}
