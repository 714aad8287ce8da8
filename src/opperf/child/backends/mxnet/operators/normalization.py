"""Normalization, softmax and dropout in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.binding import Binding, call
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, adjust, composition
from opperf.domain.backend import Unsupported

# MXNet's normalizations.


def _batch_norm(*arrays: Any, training: bool = True, eps: float = 1e-5) -> CallSpec:
    # Gradients are recorded as in training, where only this makes the running statistics serve.
    return "nd.BatchNorm", arrays, {"eps": eps, "fix_gamma": False, "use_global_stats": not training}


def rms_norm(F: Any, data: Any, weight: Any, *, axis: tuple[int, ...], epsilon: float) -> Any:
    """Divide by the root mean square along `axis`."""
    scale = F.rsqrt(F.mean(F.square(data), axis=axis, keepdims=True) + epsilon)
    return F.broadcast_mul(F.broadcast_mul(data, scale), weight)


def _rms_norm(data: Any, weight: Any, epsilon: float = 1e-5) -> CallSpec:
    axis = tuple(range(-weight.ndim, 0))
    return Composition(rms_norm), (data, weight), {"axis": axis, "epsilon": epsilon}


def group_norm(
    F: Any, data: Any, weight: Any, bias: Any, ones: Any, zeros: Any, *, shape: tuple[int, ...], **settings: Any
) -> Any:
    normal = F.GroupNorm(data, ones, zeros, **settings)
    return F.broadcast_add(F.broadcast_mul(normal, F.reshape(weight, shape=shape)), F.reshape(bias, shape=shape))


def _group_norm(data: Any, weight: Any, bias: Any, num_groups: int, eps: float = 1e-5) -> CallSpec:
    ones, zeros = (make(num_groups, ctx=data.context, dtype=data.dtype) for make in (mx.nd.ones, mx.nd.zeros))
    settings = {"num_groups": num_groups, "eps": eps, "shape": (1, -1) + (1,) * (data.ndim - 2)}
    return Composition(group_norm), (data, weight, bias, ones, zeros), settings


def _l2_normalize(data: Any, axis: int = -1, eps: float = 1e-5) -> CallSpec:
    """Choose the mode: along all but the first dimension, along the second, or along all after the second."""
    axis %= data.ndim
    modes = {(2, 1): "instance", (3, 2): "spatial"} | {(rank, 1): "channel" for rank in (3, 4, 5)}
    if (data.ndim, axis) not in modes:
        raise Unsupported(
            f"nd.L2Normalization has no mode for axis {axis} of {data.ndim} dimensions", slug="no_such_axis"
        )
    return "nd.L2Normalization", (data,), {"eps": eps, "mode": modes[data.ndim, axis]}


# MXNet's dropout.


def _dropout(data: Any, p: float = 0.5, training: bool = True) -> CallSpec:
    # Gradients are recorded as in training, where only a rate of zero makes it the identity.
    return "nd.Dropout", (data,), {"p": p if training else 0.0}


BINDINGS: dict[str, Binding] = {
    "batch_norm": adjust(
        "nd.BatchNorm",
        "data=data, gamma=weight, beta=bias, moving_mean=running_mean, moving_var=running_var",
        "training=training, eps=epsilon",
        settle=_batch_norm,
        also=("nd.BatchNorm",),
    ),
    "layer_norm": call("nd.LayerNorm", "data=data, gamma=weight, beta=bias", "eps=epsilon"),
    "rms_norm": composition(rms_norm, note="square, mean, rsqrt and products of `nd`", settle=_rms_norm),
    "group_norm": composition(
        group_norm,
        "data, weight, bias, groups",
        "eps=epsilon",
        note="nd.GroupNorm scales each group; channels are scaled and shifted by nd.broadcast_mul and nd.broadcast_add",
        settle=_group_norm,
    ),
    "instance_norm": call("nd.InstanceNorm", "data=data, gamma=weight, beta=bias", "eps=epsilon"),
    "l2_normalize": adjust(
        "nd.L2Normalization", "data", "axis=axis, eps=epsilon", settle=_l2_normalize, also=("nd.L2Normalization",)
    ),
    **{name: call(f"nd.{name}", "data", "axis") for name in ("softmax", "log_softmax", "softmin")},
    "dropout": adjust("nd.Dropout", "data", "p=rate, training=training", settle=_dropout, also=("nd.Dropout",)),
}
