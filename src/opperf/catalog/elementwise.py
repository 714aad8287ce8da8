"""Elementwise operators of one, two and three arrays, with broadcasting, and in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.catalog import inplace
from opperf.catalog.definition import DIRECTIONS, Operator
from opperf.catalog.formulas import ELEMENTWISE, broadcast_outputs, each, each_output, like, none, tensors, wholes
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import TensorSpec

# Operators that apply one function to each element of one tensor.

#: Whole numbers of which every lower bit is used.
WHOLE = (-1000.0, 1000.0)


def _unary(
    name: str,
    summary: str,
    *,
    values: tuple[float, float] = (-1.0, 1.0),
    smooth: bool = True,
    dtype: str = "float32",
    result: str | None = None,
    attributes: Mapping[str, Argument] | None = None,
    aliases: tuple[str, ...] = (),
) -> Operator:
    """Declare `name`; `smooth` operators have a gradient worth measuring, `result` is the dtype where it is another."""

    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        return (like(case.tensor("data"), dtype=result),)

    sizes = tensors("data", dtype=dtype, range=None if dtype == "bool" else values, more=attributes)
    inputs = ("data",) if smooth else ()
    return Operator(name, "elementwise_unary", summary, sizes, outputs, each(1), differentiable=inputs, aliases=aliases)


_ELEMENTWISE_UNARY = (
    _unary("abs", "the absolute value"),
    _unary("negative", "the value with its sign changed", aliases=("neg",)),
    _unary("exp", "e to the power of the value"),
    _unary("exp2", "two to the power of the value"),
    _unary("expm1", "e to the power of the value, minus one"),
    _unary("log", "the natural logarithm", values=(0.1, 2.0)),
    _unary("log2", "the logarithm to base two", values=(0.1, 2.0)),
    _unary("log10", "the logarithm to base ten", values=(0.1, 2.0)),
    _unary("log1p", "the natural logarithm of one plus the value", values=(-0.5, 1.0)),
    _unary("sqrt", "the square root", values=(0.1, 2.0)),
    _unary("rsqrt", "one over the square root", values=(0.1, 2.0)),
    _unary("cbrt", "the cube root", values=(0.1, 2.0)),
    _unary("rcbrt", "one over the cube root", values=(0.1, 2.0)),
    _unary("square", "the square"),
    _unary("reciprocal", "one over the value", values=(0.5, 2.0)),
    _unary("sin", "the sine"),
    _unary("cos", "the cosine"),
    _unary("tan", "the tangent"),
    _unary("arcsin", "the inverse sine", values=(-0.9, 0.9), aliases=("asin",)),
    _unary("arccos", "the inverse cosine", values=(-0.9, 0.9), aliases=("acos",)),
    _unary("arctan", "the inverse tangent", aliases=("atan",)),
    _unary("sinh", "the hyperbolic sine"),
    _unary("cosh", "the hyperbolic cosine"),
    _unary("arcsinh", "the inverse hyperbolic sine", aliases=("asinh",)),
    _unary("arccosh", "the inverse hyperbolic cosine", values=(1.1, 3.0), aliases=("acosh",)),
    _unary("arctanh", "the inverse hyperbolic tangent", values=(-0.9, 0.9), aliases=("atanh",)),
    _unary("erf", "the error function"),
    _unary(
        "clip",
        "the value clamped to two bounds",
        attributes={"minimum": -0.5, "maximum": 0.5},
        aliases=("clamp",),
    ),
    _unary("degrees", "radians converted to degrees", values=(-4.0, 4.0), aliases=("rad2deg",)),
    _unary("radians", "degrees converted to radians", values=(-180.0, 180.0), aliases=("deg2rad",)),
    _unary("erfinv", "the inverse of the error function", values=(-0.9, 0.9)),
    _unary("gammaln", "the logarithm of the gamma function", values=(0.5, 5.0), aliases=("lgamma",)),
    _unary("digamma", "the derivative of the logarithm of the gamma function", values=(0.5, 5.0)),
    _unary("frac", "the fractional part, with the sign of the value", values=(-10.0, 10.0)),
    _unary("nan_to_num", "the value, with NaN replaced by 0 and infinity by the largest finite number"),
    _unary("sign", "-1, 0 or 1, depending on the sign", smooth=False),
    _unary("floor", "the value rounded down", values=(-10.0, 10.0), smooth=False),
    _unary("ceil", "the value rounded up", values=(-10.0, 10.0), smooth=False),
    _unary(
        "round",
        "the value rounded to the nearest integer, halves to even",
        values=(-10.0, 10.0),
        smooth=False,
        aliases=("rint",),
    ),
    _unary("trunc", "the value rounded towards zero", values=(-10.0, 10.0), smooth=False, aliases=("fix",)),
    _unary("isnan", "whether the value is NaN", smooth=False, result="bool"),
    _unary("isinf", "whether the value is infinite", smooth=False, result="bool"),
    _unary("isfinite", "whether the value is finite", smooth=False, result="bool"),
    _unary("logical_not", "the logical negation", smooth=False, dtype="bool", result="bool"),
    _unary("signbit", "whether the sign bit is set", smooth=False, result="bool"),
    _unary(
        "bitwise_not",
        "the integer with every bit inverted",
        values=WHOLE,
        smooth=False,
        dtype="int64",
        aliases=("invert",),
    ),
)


# Operators that apply one function to each pair of elements of two tensors of one shape.
#
# The default cases have equal shapes; shapes that broadcast are allowed, and `broadcast` measures them.


EQUAL_SHAPES = {size: (shape, shape) for size, shape in ELEMENTWISE.items()}


def _binary(
    name: str,
    summary: str,
    *,
    left: tuple[float, float] | None = (-1.0, 1.0),
    right: tuple[float, float] | None = (-1.0, 1.0),
    smooth: bool = True,
    dtype: str = "float32",
    result: str | None = None,
    shapes: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = EQUAL_SHAPES,
    category: str = "elementwise_binary",
    **more: Any,
) -> Operator:
    """Declare `name`; `left` and `right` bound the values, `smooth` operators have a gradient worth measuring.

    `more` are fields of `Operator`.
    """
    outputs = broadcast_outputs(result)
    sizes = {
        size: {"lhs": TensorSpec(lhs, dtype, range=left), "rhs": TensorSpec(rhs, dtype, range=right)}
        for size, (lhs, rhs) in shapes.items()
    }
    inputs = ("lhs", "rhs") if smooth else ()
    return Operator(name, category, summary, sizes, outputs, each_output(1, outputs), differentiable=inputs, **more)


def _comparison(name: str, summary: str, *aliases: str) -> Operator:
    # One range for both sides, so that both answers occur.
    bounds = (0.0, 4.0)
    return _binary(name, summary, left=bounds, right=bounds, smooth=False, result="bool", aliases=aliases)


def _logical(name: str, summary: str) -> Operator:
    return _binary(name, summary, left=None, right=None, smooth=False, dtype="bool", result="bool")


def _whole(name: str, summary: str, right: tuple[float, float] = (-1000, 1000)) -> Operator:
    return _binary(name, summary, left=(-1000, 1000), right=right, smooth=False, dtype="int64")


_ELEMENTWISE_BINARY = (
    _binary("add", "the sum", aliasing=("backward",), aliases=("plus",)),
    _binary("subtract", "the difference", aliasing=("backward",), aliases=("sub", "minus")),
    _binary("multiply", "the product", aliases=("mul",)),
    _binary("divide", "the quotient", right=(0.5, 2.0), aliases=("div", "true_divide")),
    _binary(
        "floor_divide",
        "the quotient, rounded down",
        left=(-10.0, 10.0),
        right=(0.5, 2.0),
        smooth=False,
        aliases=("floordiv",),
    ),
    _binary(
        "remainder",
        "the remainder, with the sign of the divisor",
        left=(-10.0, 10.0),
        right=(0.5, 2.0),
        aliases=("mod",),
    ),
    _binary("power", "the left raised to the power of the right", left=(0.1, 2.0), aliases=("pow",)),
    _binary("maximum", "the larger"),
    _binary("minimum", "the smaller"),
    _binary("hypot", "the square root of the sum of the squares", left=(0.1, 2.0)),
    _binary("arctan2", "the angle of the point (right, left)", left=(0.1, 2.0), aliases=("atan2",)),
    _binary("logaddexp", "the logarithm of the sum of the exponentials of two tensors"),
    _binary("fmod", "the remainder, with the sign of the dividend", left=(-10.0, 10.0), right=(0.5, 2.0), smooth=False),
    _binary("copysign", "the absolute value of the left with the sign of the right", smooth=False),
    _binary("heaviside", "0 or 1 by the sign of the left; the right where the left is 0", smooth=False),
    _comparison("equal", "whether both are equal", "eq"),
    _comparison("not_equal", "whether the two differ", "ne"),
    _comparison("greater", "whether the left is larger", "gt"),
    _comparison("greater_equal", "whether the left is larger or equal", "ge"),
    _comparison("less", "whether the left is smaller", "lt", "lesser"),
    _comparison("less_equal", "whether the left is smaller or equal", "le", "lesser_equal"),
    _logical("logical_and", "whether both are true"),
    _logical("logical_or", "whether at least one is true"),
    _logical("logical_xor", "whether exactly one is true"),
    _comparison("isclose", "whether the two differ by at most 1e-8, plus 1e-5 of the right"),
    _whole("bitwise_and", "the bits set in both"),
    _whole("bitwise_or", "the bits set in at least one"),
    _whole("bitwise_xor", "the bits set in exactly one"),
    _whole("left_shift", "the left times two to the power of the right", right=(0, 16)),
    _whole("right_shift", "the left divided by two to the power of the right, rounded down", right=(0, 16)),
)


# Operators that apply one function to the elements of three tensors of one shape; a multiply-add is two operations.


def _ternary(
    name: str,
    summary: str,
    inputs: tuple[str, str, str],
    operations: int,
    *,
    last: tuple[float, float] = (-1.0, 1.0),
    **attributes: Argument,
) -> Operator:
    """Declare `name`; `last` bounds the values of the third tensor."""
    outputs = broadcast_outputs()
    sizes = {
        size: {
            inputs[0]: TensorSpec(shape),
            inputs[1]: TensorSpec(shape),
            inputs[2]: TensorSpec(shape, range=last),
            **attributes,
        }
        for size, shape in ELEMENTWISE.items()
    }
    return Operator(
        name, "elementwise_ternary", summary, sizes, outputs, each_output(operations, outputs), differentiable=inputs
    )


_ELEMENTWISE_TERNARY = (
    _ternary("lerp", "the linear interpolation from `start` to `end` by `weight`", ("start", "end", "weight"), 3),
    _ternary("addcmul", "the data plus `value` times the product of two", ("data", "lhs", "rhs"), 3, value=0.5),
    _ternary(
        "addcdiv",
        "the data plus `value` times the quotient of two",
        ("data", "lhs", "rhs"),
        3,
        last=(0.5, 2.0),
        value=0.5,
    ),
)


# Element-wise operators of two tensors of different shapes, where one is repeated along the dimensions it lacks.
#
# They are the operators of `elementwise_binary` under a name of their own, because the repeated side is read
# differently, its gradient is a sum, and MXNet has separate operators for them.

#: The two shapes: a row onto a table, a column onto a table, a column against a row, a short row onto a tall table.
SHAPES = {
    "small": ((32, 32), (32,)),
    "common": ((1024, 1024), (1024, 1)),
    "large": ((4096, 1), (1, 4096)),
    "skewed": ((100_000, 10), (10,)),
}


def _broadcast(name: str, summary: str, *, result: str | None = None, **more: Any) -> Operator:
    smooth = result is None
    return _binary(
        name, f"{summary}, broadcasting", shapes=SHAPES, category="broadcast", smooth=smooth, result=result, **more
    )


def _to_shape(case: Case) -> tuple[TensorSpec, ...]:
    return (like(case.tensor("data"), wholes(case, "shape")),)


_BROADCAST = (
    _broadcast("broadcast_add", "the sum", aliasing=("backward",), aliases=("broadcast_plus",)),
    _broadcast(
        "broadcast_subtract",
        "the difference",
        aliasing=("backward",),
        aliases=("broadcast_sub", "broadcast_minus"),
    ),
    _broadcast("broadcast_multiply", "the product", aliases=("broadcast_mul",)),
    _broadcast("broadcast_divide", "the quotient", right=(0.5, 2.0), aliases=("broadcast_div",)),
    _broadcast("broadcast_power", "the power", left=(0.1, 2.0)),
    _broadcast("broadcast_maximum", "the larger"),
    _broadcast("broadcast_minimum", "the smaller"),
    _broadcast("broadcast_equal", "whether both are equal", result="bool"),
    _broadcast("broadcast_greater", "whether the left is larger", result="bool"),
    Operator(
        "broadcast_to",
        "broadcast",
        "the tensor repeated to a larger shape (a view in some frameworks)",
        sizes={
            "small": {"data": TensorSpec((32,)), "shape": (32, 32)},
            "common": {"data": TensorSpec((1024, 1)), "shape": (1024, 1024)},
            "large": {"data": TensorSpec((1, 4096)), "shape": (4096, 4096)},
            "skewed": {"data": TensorSpec((10,)), "shape": (100_000, 10)},
        },
        outputs=_to_shape,
        flops=none,
        differentiable=("data",),
        aliasing=DIRECTIONS,
        aliases=("expand",),
    ),
)


OPERATORS = (*_ELEMENTWISE_UNARY, *_ELEMENTWISE_BINARY, *_ELEMENTWISE_TERNARY, *_BROADCAST, *inplace.OPERATORS)
