"""Elementwise operators of one, two and three tensors, with broadcasting, in TensorFlow."""

from __future__ import annotations

from math import log, pi
from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.operators import TERNARY
from opperf.child.backends.binding import Binding, compositions, functions, gaps

#: How far two numbers may differ and be close, as in NumPy.
RTOL, ATOL = 1e-5, 1e-8


def trunc(data: Any) -> Any:
    return tf.where(data < 0, tf.math.ceil(data), tf.floor(data))


def cbrt(data: Any) -> Any:
    return tf.sign(data) * tf.pow(tf.abs(data), 1 / 3)


def nan_to_num(data: Any) -> Any:
    data = tf.where(tf.math.is_nan(data), tf.zeros((), data.dtype), data)
    return tf.clip_by_value(data, data.dtype.min, data.dtype.max)


def logaddexp(lhs: Any, rhs: Any) -> Any:
    return tf.maximum(lhs, rhs) + tf.math.log1p(tf.exp(-tf.abs(lhs - rhs)))


def is_negative(data: Any) -> Any:
    """Whether the sign is set, of zeros too."""
    return tf.math.atan2(data, tf.constant(-1.0, data.dtype)) < 0


def heaviside(lhs: Any, rhs: Any) -> Any:
    return tf.where(lhs == 0, rhs, tf.cast(lhs > 0, lhs.dtype))


BINDINGS: dict[str, Binding] = {
    # TensorFlow's functions of one tensor and of two, which broadcast.
    **functions(
        "tf",
        {
            ("data", ""): (
                "arcsin=asin arccos=acos arctan=atan arcsinh=asinh arccosh=acosh arctanh=atanh gammaln=math.lgamma "
                "isnan=math.is_nan isinf=math.is_inf isfinite=math.is_finite bitwise_not=bitwise.invert"
            ),
            ("data", "clip_value_min=minimum, clip_value_max=maximum"): "clip=clip_by_value",
            ("lhs, rhs", ""): (
                "floor_divide=math.floordiv remainder=math.floormod power=pow arctan2=atan2 fmod=truncatemod "
                "bitwise_and=bitwise.bitwise_and bitwise_or=bitwise.bitwise_or bitwise_xor=bitwise.bitwise_xor "
                "left_shift=bitwise.left_shift right_shift=bitwise.right_shift broadcast_add=add "
                "broadcast_subtract=subtract broadcast_multiply=multiply broadcast_divide=divide broadcast_power=pow "
                "broadcast_maximum=maximum broadcast_minimum=minimum broadcast_equal=equal broadcast_greater=greater"
            ),
            ("data, shape", ""): "broadcast_to",
        },
    ),
    **compositions(
        exp2=(lambda data: tf.pow(tf.constant(2.0, data.dtype), data), "tf.pow of two"),
        log2=(lambda data: tf.math.log(data) / log(2), "tf.math.log and a division"),
        log10=(lambda data: tf.math.log(data) / log(10), "tf.math.log and a division"),
        cbrt=(cbrt, "tf.pow of tf.abs, and tf.sign"),
        rcbrt=(lambda data: tf.math.reciprocal(cbrt(data)), "tf.pow of tf.abs, tf.sign and tf.math.reciprocal"),
        degrees=(lambda data: data * (180 / pi), "a product"),
        radians=(lambda data: data * (pi / 180), "a product"),
        trunc=(trunc, "tf.floor, tf.math.ceil and tf.where"),
        frac=(lambda data: data - trunc(data), "tf.floor, tf.math.ceil, tf.where and a difference"),
        nan_to_num=(nan_to_num, "tf.math.is_nan, tf.where and tf.clip_by_value"),
        signbit=(is_negative, "tf.math.atan2 and a comparison"),
        hypot=(lambda lhs, rhs: tf.sqrt(tf.square(lhs) + tf.square(rhs)), "tf.square, a sum and tf.sqrt"),
        logaddexp=(logaddexp, "tf.maximum, tf.exp and tf.math.log1p"),
        copysign=(
            lambda lhs, rhs: tf.where(is_negative(rhs), -tf.abs(lhs), tf.abs(lhs)),
            "tf.abs, tf.math.atan2 and tf.where",
        ),
        heaviside=(heaviside, "comparisons, tf.cast and tf.where"),
        isclose=(
            lambda lhs, rhs: tf.abs(lhs - rhs) <= ATOL + RTOL * tf.abs(rhs),
            "tf.abs of a difference, and a comparison",
        ),
    ),
    # Functions of three tensors, which users of TensorFlow write with arithmetic.
    **TERNARY,
    **gaps(
        "TensorFlow's tensors never change; its variables do, and opperf makes none",
        "add_inplace subtract_inplace multiply_inplace divide_inplace remainder_inplace copy_to relu_inplace "
        "clip_inplace set_item",
    ),
}
