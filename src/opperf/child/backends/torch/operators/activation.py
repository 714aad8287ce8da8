"""Activations, gated ones, and what compilers fuse with them in PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from opperf.child.backends.arrays.fusions import convolved, fused, gates
from opperf.child.backends.binding import Binding, functions
from opperf.child.backends.torch.functions import other_paths


def gelu(data: Any, approximate: str | None) -> Any:
    return F.gelu(data, approximate=approximate or "none")


def convolve(data: Any, weight: Any, bias: Any, stride: Any, padding: Any) -> Any:
    """Return the convolution of images, with the bias."""
    return F.conv2d(data, weight, bias, stride=stride, padding=padding)


def normalize(
    data: Any, scale: Any, shift: Any, running_mean: Any, running_var: Any, training: bool, epsilon: float
) -> Any:
    """Return each channel normalized; PyTorch takes the statistics first."""
    return F.batch_norm(data, running_mean, running_var, scale, shift, training=training, eps=epsilon)


PLACE = "torch.nn.functional"
RELU, GELU = (F.relu, f"{PLACE}.relu"), (gelu, f"{PLACE}.gelu")

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
    **gates((torch.chunk, "torch.chunk"), reglu=RELU, swiglu=(F.silu, f"{PLACE}.silu"), geglu=GELU),
    # What models run one after another, in PyTorch: calls that compiled mode makes one program of.
    **convolved((convolve, f"{PLACE}.conv2d"), (normalize, f"{PLACE}.batch_norm"), RELU),
    **fused(
        linear=(F.linear, f"{PLACE}.linear"),
        product=(lambda lhs, rhs, bias: torch.addmm(bias, lhs, rhs), "torch.addmm"),
        relu=RELU,
        gelu=GELU,
        layer_norm=(
            lambda data, weight, bias, epsilon: F.layer_norm(data, tuple(weight.shape), weight, bias, eps=epsilon),
            f"{PLACE}.layer_norm",
        ),
        rms_norm=(
            lambda data, weight, epsilon: F.rms_norm(data, tuple(weight.shape), weight, eps=epsilon),
            f"{PLACE}.rms_norm",
        ),
        activations={"relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh},
    ),
}
