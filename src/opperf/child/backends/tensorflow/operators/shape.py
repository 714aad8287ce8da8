"""Operators that move, join, split and convert data in TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from opperf.child.backends.binding import Binding, Missing, call, composition, compositions, functions


def _exchange(arguments: Mapping[str, Any]) -> list[int]:
    order = list(range(arguments["data"].shape.rank))
    one, other = arguments["axis1"], arguments["axis2"]
    order[one], order[other] = order[other], order[one]
    return order


def _axes(arguments: Mapping[str, Any]) -> list[int]:
    """Return the axes as a list; none means all."""
    axis = arguments.get("axis")
    if axis is None:
        return list(range(arguments["data"].shape.rank))
    return [axis] if isinstance(axis, int) else list(axis)


def to_device(data: Any, device: str) -> Any:
    with tf.device(device.replace("cuda", "gpu")):
        return tf.identity(data)


def copy(data: Any) -> Any:
    return tf.raw_ops.DeepCopy(x=data)


COPIED = "TensorFlow registers no gradient for a copy (tf.raw_ops.DeepCopy)"

BINDINGS: dict[str, Binding] = {
    # Laying out elements anew in TensorFlow; reshapes share the memory of what they are given.
    **functions(
        "tf",
        {
            ("data", "perm=axes"): "transpose",
            ("data, shape", ""): "reshape",
            ("data, axis", ""): "expand_dims concatenate=concat",
            ("data", "axis=axis"): "squeeze stack",
            ("data, shift", "axis=axis"): "roll",
            ("data, repeats", ""): "tile",
            ("data, repeats", "axis=axis"): "repeat",
            ("data, widths", "constant_values=value"): "pad",
            ("data, dtype", ""): "cast",
            ("data, sections", "axis=axis"): "split",
        },
    ),
    "swap_axes": call("tf.transpose", "data", "perm=order", derive={"order": _exchange}),
    "flip": call("tf.reverse", "data", "axis=axes", derive={"axes": _axes}),
    "copy": composition(
        copy,
        note="tf.raw_ops.DeepCopy; tf.identity copies nothing",
        unsupported={"backward": COPIED, "forward_backward": COPIED},
    ),
    **compositions(
        reshape_like=(lambda data, like: tf.reshape(data, like.shape), "tf.reshape to the shape"),
        flatten=(lambda data: tf.reshape(data, (data.shape[0], -1)), "tf.reshape"),
    ),
    # What is asked of a tensor, and where it goes.
    **compositions(
        shape_array=(lambda data: tf.shape(data, out_type=tf.int64), "tf.shape"),
        size_array=(lambda data: tf.reshape(tf.size(data, out_type=tf.int64), (1,)), "tf.size and tf.reshape"),
        item=(lambda data: data.numpy().item(), "tf.Tensor.numpy and numpy.ndarray.item"),
        to_numpy=(lambda data: np.array(data.numpy()), "tf.Tensor.numpy, which is a view on a CPU, and a copy"),
        get_item=(lambda data, index: data[index], "`data[index]`"),
    ),
    "to_device": composition(to_device, note="tf.identity within tf.device"),
    "contiguous": Missing("TensorFlow's tensors are always contiguous"),
}
