"""Activations, gated ones, and what compilers fuse with them in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.activations import activations, bindings
from opperf.child.backends.arrays.fusions import fused, gates
from opperf.child.backends.binding import Binding, call, compositions, gaps
from opperf.child.backends.numpy.operators.linalg import linear
from opperf.child.backends.numpy.operators.normalization import layer_norm, rms_norm

SHARED = activations(np)
sigmoid, gelu = SHARED["sigmoid"][0], SHARED["gelu"][0]


def glu(data: Any) -> Any:
    first, second = np.split(data, 2, axis=-1)
    return first / (1.0 + np.exp(-second))


def swiglu(data: Any) -> Any:
    first, second = np.split(data, 2, axis=-1)
    return first * second / (1.0 + np.exp(-second))


def relu(data: Any) -> Any:
    return np.maximum(data, 0)


RELU, GELU = (relu, "numpy.maximum"), (gelu, "numpy.tanh, arithmetic")


BINDINGS: dict[str, Binding] = {
    # Activations, which NumPy users write with a function or a few: those of all array libraries first.
    **bindings(np, "numpy"),
    "relu": call("numpy.maximum", "x1=data, x2=0", note="numpy.maximum with 0"),
    "relu6": call("numpy.clip", "a=data, a_min=0, a_max=6", note="numpy.clip to 0 and 6"),
    "softplus": call("numpy.logaddexp", "x1=data, x2=0.0", note="numpy.logaddexp with 0"),
    **compositions(
        prelu=(
            lambda data, weight: np.where(data > 0, data, weight.reshape((-1,) + (1,) * (data.ndim - 2)) * data),
            "numpy.where, numpy.greater and numpy.multiply",
        ),
    ),
    # Gated activations, which NumPy users write with a function or a few.
    **compositions(
        glu=(glu, "numpy.split, numpy.exp and arithmetic"),
        swiglu=(swiglu, "numpy.split, numpy.exp and arithmetic"),
    ),
    **gates((np.split, "numpy.split"), product="numpy.multiply", reglu=RELU, geglu=GELU),
    # What models run one after another, in NumPy: each part makes an array of its own.
    **gaps(
        "NumPy has no convolution over images, the first step of this operator",
        "conv_relu conv_batch_norm conv_batch_norm_relu",
    ),
    **fused(
        linear=(linear, "numpy.matmul, numpy.add"),
        product=(lambda lhs, rhs, bias: np.matmul(lhs, rhs) + bias, "numpy.matmul, numpy.add"),
        relu=RELU,
        gelu=GELU,
        layer_norm=(layer_norm, "numpy.mean, numpy.var, numpy.sqrt, arithmetic"),
        rms_norm=(rms_norm, "numpy.square, numpy.mean, numpy.sqrt, arithmetic"),
        activations={"relu": relu, "sigmoid": sigmoid, "tanh": np.tanh},
        addition="numpy.add",
    ),
}
