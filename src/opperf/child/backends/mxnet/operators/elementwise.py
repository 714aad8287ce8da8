"""Elementwise operators of one, two and three arrays, with broadcasting, and in place in MXNet."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.arrays.compositions import WRITES
from opperf.child.backends.binding import Binding, call, functions, gaps
from opperf.child.backends.mxnet.spelling import compositions


def logaddexp(F: Any, lhs: Any, rhs: Any) -> Any:
    apart = F.exp(F.negative(F.abs(F.broadcast_sub(lhs, rhs))))
    return F.broadcast_add(F.broadcast_maximum(lhs, rhs), F.log1p(apart))


COMPARES = "the answers are 1 and 0 in the dtype of the left side"
LOGICAL = "on truth values the bitwise function is the logical one, which `nd` has on numbers only"

BINDINGS: dict[str, Binding] = {
    # MXNet's functions of one tensor and of two, element by element.
    **functions(
        "nd",
        {
            ("data", ""): (
                "abs negative exp expm1 log log2 log10 log1p sqrt rsqrt cbrt square reciprocal sin cos tan arcsin "
                "arccos arctan sinh cosh arcsinh arccosh arctanh erf sign floor ceil trunc degrees radians"
            ),
            ("lhs, rhs", ""): "power maximum minimum hypot=broadcast_hypot|hypot",
        },
        also=("np.{}",),
    ),
    **functions("nd", {("data", ""): "erfinv gammaln"}, also=("npx.{}",)),
    **functions(
        "nd",
        {
            ("lhs, rhs", ""): (
                "add|nd.elemwise_add|np.add subtract|nd.elemwise_sub|np.subtract multiply|nd.elemwise_mul|np.multiply "
                "divide|nd.elemwise_div|np.divide remainder=modulo|nd.broadcast_mod|np.mod"
            )
        },
        also=("{}",),
    ),
    **functions(
        "nd",
        {
            ("lhs, rhs", ""): (
                "equal|np.equal not_equal|nd.broadcast_not_equal|np.not_equal greater|np.greater "
                "greater_equal|nd.broadcast_greater_equal|np.greater_equal less=lesser|nd.broadcast_lesser|np.less "
                "less_equal=lesser_equal|nd.broadcast_lesser_equal|np.less_equal"
            )
        },
        note=COMPARES,
        also=("{}",),
    ),
    **functions("nd", {("lhs, rhs", ""): "broadcast_equal broadcast_greater"}, note=COMPARES),
    **functions(
        "nd",
        {
            ("data", "a_min=minimum, a_max=maximum"): "clip",
            ("lhs, rhs", ""): (
                "broadcast_subtract=broadcast_sub broadcast_multiply=broadcast_mul broadcast_divide=broadcast_div"
            ),
            # An input may be the place of the output.
            ("lhs, rhs", "out=lhs"): (
                "add_inplace=elemwise_add subtract_inplace=elemwise_sub multiply_inplace=elemwise_mul "
                "divide_inplace=elemwise_div remainder_inplace=broadcast_mod"
            ),
            ("data, destination", ""): "copy_to=NDArray.copyto",
            ("data", "out=data"): "relu_inplace=relu",
            ("data, low, high", "out=data"): "clip_inplace=clip",
        },
    ),
    "exp2": call(
        "nd._internal._rpower_scalar", "data", "scalar=2.0", note="two to a tensor's power: `nd` has no `exp2`"
    ),
    # `nd.round` takes halves away from zero, `nd.rint` takes them down. In `nd`, those of truth values answer with
    # floats and take none, and `broadcast_to` keeps the number of dimensions.
    **functions(
        "np",
        {
            ("x=data", ""): (
                "round=around|np.round isnan|nd.contrib.isnan isinf|nd.contrib.isinf isfinite|nd.contrib.isfinite "
                "logical_not|nd.logical_not bitwise_not|np.invert"
            ),
            ("array=data, shape=shape", ""): "broadcast_to|nd.broadcast_to",
        },
        also=("{}",),
    ),
    **functions(
        "np",
        {("x1=lhs, x2=rhs", ""): "logical_and=bitwise_and logical_or=bitwise_or logical_xor=bitwise_xor"},
        note=LOGICAL,
    ),
    **functions(
        "np",
        {("x=data", ""): "nan_to_num", ("x1=lhs, x2=rhs", ""): "arctan2 copysign bitwise_and bitwise_or bitwise_xor"},
    ),
    # MXNet has no functions of three tensors, element by element; they are composed of arithmetic.
    **compositions(
        frac=(lambda F, data: data - F.trunc(data), "nd.trunc and a difference"),
        floor_divide=(lambda F, lhs, rhs: F.floor(F.broadcast_div(lhs, rhs)), "nd.broadcast_div and nd.floor"),
        logaddexp=(logaddexp, "maximum, difference, exp and log1p of `nd`"),
        lerp=(lambda F, start, end, weight: start + weight * (end - start), "a difference, a product and a sum"),
        addcmul=(lambda F, data, lhs, rhs, value=1.0: data + value * (lhs * rhs), "two products and a sum"),
        addcdiv=(lambda F, data, lhs, rhs, value=1.0: data + value * (lhs / rhs), "a quotient, a product and a sum"),
    ),
    "set_item": WRITES["set_item"],
    **gaps("MXNet has the digamma function only as the gradient of `nd.gammaln`", "digamma"),
    **gaps("`np.signbit` of MXNet 1.9 is NumPy's own function, which does not take MXNet arrays", "signbit"),
    **gaps("`np.heaviside` of MXNet 1.9 is NumPy's own function, which does not take MXNet arrays", "heaviside"),
    **gaps("`np.isclose` of MXNet 1.9 is NumPy's own function, which does not take MXNet arrays", "isclose"),
    **gaps("MXNet has only the remainder with the sign of the divisor, `nd.modulo`", "fmod"),
    **gaps("MXNet 1.9 has no shifts of bits", "left_shift right_shift"),
}
