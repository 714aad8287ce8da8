"""Operators that apply one function to each pair of elements of two tensors of one shape.

The default cases have equal shapes; shapes that broadcast are allowed, and `broadcast` measures them.
"""

from __future__ import annotations

from opperf.catalog.definition import EVERY_DIRECTION, FORWARD_ONLY, Operator
from opperf.catalog.formulas import ELEMENTWISE, broadcast_outputs, each_output
from opperf.domain.tensor import TensorSpec


def _binary(
    name: str,
    summary: str,
    *,
    left: tuple[float, float] | None = (-1.0, 1.0),
    right: tuple[float, float] | None = (-1.0, 1.0),
    smooth: bool = True,
    dtype: str = "float32",
    result: str | None = None,
    aliasing: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
) -> Operator:
    """Declare `name`; `left` and `right` bound the values, `smooth` operators have a gradient worth measuring."""
    outputs = broadcast_outputs(result)
    return Operator(
        name=name,
        category="elementwise_binary",
        summary=summary,
        inputs=("lhs", "rhs"),
        sizes={
            size: {"lhs": TensorSpec(shape, dtype, range=left), "rhs": TensorSpec(shape, dtype, range=right)}
            for size, shape in ELEMENTWISE.items()
        },
        outputs=outputs,
        flops=each_output(1, outputs),
        directions=EVERY_DIRECTION if smooth else FORWARD_ONLY,
        differentiable=("lhs", "rhs") if smooth else (),
        aliasing=aliasing,
        aliases=aliases,
    )


def _comparison(name: str, summary: str, *aliases: str) -> Operator:
    # One range for both sides, so that both answers occur.
    bounds = (0.0, 4.0)
    return _binary(name, summary, left=bounds, right=bounds, smooth=False, result="bool", aliases=aliases)


def _logical(name: str, summary: str) -> Operator:
    return _binary(name, summary, left=None, right=None, smooth=False, dtype="bool", result="bool")


def _whole(name: str, summary: str, right: tuple[float, float] = (-1000, 1000)) -> Operator:
    return _binary(name, summary, left=(-1000, 1000), right=right, smooth=False, dtype="int64")


OPERATORS = (
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
    _binary("power", "the left to the power of the right", left=(0.1, 2.0), aliases=("pow",)),
    _binary("maximum", "the larger"),
    _binary("minimum", "the smaller"),
    _binary("hypot", "the square root of the sum of both squares", left=(0.1, 2.0)),
    _binary("arctan2", "the angle of the point (right, left)", left=(0.1, 2.0), aliases=("atan2",)),
    _binary("logaddexp", "the logarithm of the sum of both exponentials"),
    _binary("fmod", "the remainder, with the sign of the dividend", left=(-10.0, 10.0), right=(0.5, 2.0), smooth=False),
    _binary("copysign", "the absolute value of the left with the sign of the right", smooth=False),
    _binary("heaviside", "0 or 1 by the sign of the left, the right where that is 0", smooth=False),
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
    _whole("bitwise_and", "the bits that both have"),
    _whole("bitwise_or", "the bits that at least one has"),
    _whole("bitwise_xor", "the bits that exactly one has"),
    _whole("left_shift", "the left times two to the power of the right", right=(0, 16)),
    _whole("right_shift", "the left over two to the power of the right, rounded down", right=(0, 16)),
)
