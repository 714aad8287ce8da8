"""Normalization, softmax and dropout in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.binding import Binding, call, functions


def weight_shape(arguments: Mapping[str, Any]) -> Any:
    """Return the shape of the weight: the dimensions to normalize over."""
    return tuple(arguments["weight"].shape)


def training(arguments: Mapping[str, Any]) -> Any:
    """Return whether statistics are of the batch; not given, they are in the catalog and are not in PyTorch."""
    return arguments.get("training", True)


BINDINGS: dict[str, Binding] = {
    # PyTorch's normalizations.
    "batch_norm": call(
        "torch.nn.functional.batch_norm",
        "input=data, running_mean=running_mean, running_var=running_var",
        "weight=weight, bias=bias, training=training, eps=epsilon",
        derive={"training": training},
    ),
    **functions(
        "torch.nn.functional",
        {
            ("input=data, normalized_shape=shape", "weight=weight, bias=bias, eps=epsilon"): "layer_norm",
            ("input=data, normalized_shape=shape", "weight=weight, eps=epsilon"): "rms_norm",
        },
        derive={"shape": weight_shape},
    ),
    **functions(
        "torch.nn.functional",
        {
            ("input=data, num_groups=groups", "weight=weight, bias=bias, eps=epsilon"): "group_norm",
            ("input=data", "weight=weight, bias=bias, eps=epsilon"): "instance_norm",
            ("input=data", "dim=axis, eps=epsilon"): "l2_normalize=normalize",
            ("input=data", "p=rate, training=training"): "dropout",
        },
    ),
    # PyTorch's softmax and its kin.
    **functions(
        "torch.nn.functional",
        {("input=data", "dim=axis"): "softmax log_softmax softmin"},
        also=("torch.{}", "torch.Tensor.{}"),
    ),
}
