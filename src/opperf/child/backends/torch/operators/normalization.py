"""Normalization, softmax and dropout in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.binding import Binding, call


def weight_shape(arguments: Mapping[str, Any]) -> Any:
    """Return the shape of the weight: the dimensions to normalize over."""
    return tuple(arguments["weight"].shape)


def training(arguments: Mapping[str, Any]) -> Any:
    """Return whether statistics are of the batch; not given, they are in the catalog and are not in PyTorch."""
    return arguments.get("training", True)


_SOFTMAX: dict[str, Binding] = {
    name: call(f"torch.nn.functional.{name}", "input=data", "dim=axis", also=(f"torch.{name}", f"torch.Tensor.{name}"))
    for name in ("softmax", "log_softmax", "softmin")
}

BINDINGS: dict[str, Binding] = {
    # PyTorch's normalizations.
    "batch_norm": call(
        "torch.nn.functional.batch_norm",
        "input=data, running_mean=running_mean, running_var=running_var",
        "weight=weight, bias=bias, training=training, eps=epsilon",
        derive={"training": training},
    ),
    "layer_norm": call(
        "torch.nn.functional.layer_norm",
        "input=data, normalized_shape=shape",
        "weight=weight, bias=bias, eps=epsilon",
        derive={"shape": weight_shape},
    ),
    "rms_norm": call(
        "torch.nn.functional.rms_norm",
        "input=data, normalized_shape=shape",
        "weight=weight, eps=epsilon",
        derive={"shape": weight_shape},
    ),
    "group_norm": call(
        "torch.nn.functional.group_norm", "input=data, num_groups=groups", "weight=weight, bias=bias, eps=epsilon"
    ),
    "instance_norm": call("torch.nn.functional.instance_norm", "input=data", "weight=weight, bias=bias, eps=epsilon"),
    "l2_normalize": call("torch.nn.functional.normalize", "input=data", "dim=axis, eps=epsilon"),
    # PyTorch's softmax and its kin.
    **{
        name: call(
            f"torch.nn.functional.{name}", "input=data", "dim=axis", also=(f"torch.{name}", f"torch.Tensor.{name}")
        )
        for name in ("softmax", "log_softmax", "softmin")
    },
    # PyTorch's dropout.
    "dropout": call("torch.nn.functional.dropout", "input=data", "p=rate, training=training"),
}
