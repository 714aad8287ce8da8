"""Activations, gated ones, and what compilers fuse with them in PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from opperf.child.backends.binding import Binding, composition, compositions, functions
from opperf.child.backends.torch.functions import other_paths

ACTIVATIONS = {"relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh}


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


NORMALIZED = "data, weight, scale, shift, running_mean, running_var, stride, padding, epsilon"
NOTE = "torch.nn.functional"

BINDINGS: dict[str, Binding] = {
    # PyTorch's activations, from `torch.nn.functional`, but for the two that it sends on to `torch`.
    **functions(
        "torch.nn.functional",
        {("input=data", ""): "relu relu6 silu mish selu softplus softsign"},
        also=("torch.{}", *other_paths("{}")),
    ),
    **functions("torch", {("input=data", ""): "sigmoid tanh"}, also=("torch.nn.functional.{}", *other_paths("{}"))),
    **functions(
        "torch.nn.functional",
        {
            ("input=data", ""): "log_sigmoid=logsigmoid hard_sigmoid=hardsigmoid hard_swish=hardswish",
            ("input=data", "approximate=approximate"): "gelu",
            ("input=data", "negative_slope=slope"): "leaky_relu",
            ("input=data", "alpha=alpha"): "elu",
            ("input=data, weight=weight", ""): "prelu",
            ("input=data", "dim=-1"): "glu",
        },
    ),
    # Gated activations in PyTorch: one function for glu, a product of two halves for the others.
    **compositions(
        reglu=(
            lambda data: (halves := data.chunk(2, -1))[0] * F.relu(halves[1]),
            "torch.chunk, torch.nn.functional.relu and a product",
        ),
        swiglu=(
            lambda data: (halves := data.chunk(2, -1))[0] * F.silu(halves[1]),
            "torch.chunk, torch.nn.functional.silu and a product",
        ),
        geglu=(
            lambda data, approximate: (
                (halves := data.chunk(2, -1))[0] * F.gelu(halves[1], approximate=approximate or "none")
            ),
            "torch.chunk, torch.nn.functional.gelu and a product",
        ),
    ),
    # What models run one after another, in PyTorch: calls that compiled mode makes one program of.
    "conv_batch_norm_relu": composition(conv_batch_norm_relu, NORMALIZED, note=f"{NOTE}.conv2d, batch_norm and relu"),
    **compositions(
        conv_relu=(
            lambda data, weight, bias, stride, padding: F.relu(
                F.conv2d(data, weight, bias, stride=stride, padding=padding)
            ),
            f"{NOTE}.conv2d and relu",
        ),
        conv_batch_norm=(conv_batch_norm, f"{NOTE}.conv2d and batch_norm"),
        linear_relu=(lambda data, weight, bias: F.relu(F.linear(data, weight, bias)), f"{NOTE}.linear and relu"),
        linear_gelu=(
            lambda data, weight, bias, approximate: F.gelu(
                F.linear(data, weight, bias), approximate=approximate or "none"
            ),
            f"{NOTE}.linear and gelu",
        ),
        matmul_bias_activation=(
            lambda lhs, rhs, bias, activation: ACTIVATIONS[activation](torch.addmm(bias, lhs, rhs)),
            "torch.addmm, and torch.relu, sigmoid or tanh",
        ),
        add_layer_norm=(
            lambda data, residual, weight, bias, epsilon: F.layer_norm(
                data + residual, tuple(weight.shape), weight, bias, eps=epsilon
            ),
            f"a sum and {NOTE}.layer_norm",
        ),
        add_rms_norm=(
            lambda data, residual, weight, epsilon: F.rms_norm(
                data + residual, tuple(weight.shape), weight, eps=epsilon
            ),
            f"a sum and {NOTE}.rms_norm",
        ),
        residual_add_relu=(lambda data, residual: F.relu(data + residual), f"a sum and {NOTE}.relu"),
        bias_gelu=(
            lambda data, bias, approximate: F.gelu(data + bias, approximate=approximate or "none"),
            f"a sum and {NOTE}.gelu",
        ),
    ),
}
