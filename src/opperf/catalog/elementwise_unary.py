"""Operators that apply one function to each element of one tensor."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import EVERY_DIRECTION, FORWARD_ONLY, Operator
from opperf.catalog.formulas import ELEMENTWISE, each, like
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import TensorSpec

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

    bounds = None if dtype == "bool" else values
    return Operator(
        name=name,
        category="elementwise_unary",
        summary=summary,
        inputs=("data",),
        sizes={
            size: {"data": TensorSpec(shape, dtype, range=bounds), **(attributes or {})}
            for size, shape in ELEMENTWISE.items()
        },
        outputs=outputs,
        flops=each(1),
        directions=EVERY_DIRECTION if smooth else FORWARD_ONLY,
        differentiable=("data",) if smooth else (),
        aliases=aliases,
    )


OPERATORS = (
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
    _unary("square", "the value times itself"),
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
        "the value, or the nearer of two bounds when it is beyond them",
        attributes={"minimum": -0.5, "maximum": 0.5},
        aliases=("clamp",),
    ),
    _unary("degrees", "the angle in degrees of one in radians", values=(-4.0, 4.0), aliases=("rad2deg",)),
    _unary("radians", "the angle in radians of one in degrees", values=(-180.0, 180.0), aliases=("deg2rad",)),
    _unary("erfinv", "the inverse of the error function", values=(-0.9, 0.9)),
    _unary("gammaln", "the logarithm of the gamma function", values=(0.5, 5.0), aliases=("lgamma",)),
    _unary("digamma", "the derivative of the logarithm of the gamma function", values=(0.5, 5.0)),
    _unary("frac", "the part behind the point, with the sign of the value", values=(-10.0, 10.0)),
    _unary("nan_to_num", "0 for what is not a number, the largest finite one for infinity, else the value"),
    _unary("sign", "-1, 0 or 1 by the sign", smooth=False),
    _unary("floor", "the largest whole number not above the value", values=(-10.0, 10.0), smooth=False),
    _unary("ceil", "the smallest whole number not below the value", values=(-10.0, 10.0), smooth=False),
    _unary("round", "the nearest whole number, halves to even", values=(-10.0, 10.0), smooth=False, aliases=("rint",)),
    _unary(
        "trunc", "the whole number next to the value towards zero", values=(-10.0, 10.0), smooth=False, aliases=("fix",)
    ),
    _unary("isnan", "whether the value is not a number", smooth=False, result="bool"),
    _unary("isinf", "whether the value is infinite", smooth=False, result="bool"),
    _unary("isfinite", "whether the value is neither infinite nor not a number", smooth=False, result="bool"),
    _unary("logical_not", "whether the truth value is false", smooth=False, dtype="bool", result="bool"),
    _unary("signbit", "whether the sign is negative", smooth=False, result="bool"),
    _unary(
        "bitwise_not",
        "the whole number with each bit turned over",
        values=WHOLE,
        smooth=False,
        dtype="int64",
        aliases=("invert",),
    ),
)
