"""Elementwise operators in place; a part of the elementwise family."""

from __future__ import annotations

from opperf.catalog.definition import FORWARD_ONLY, Operator
from opperf.catalog.formulas import ELEMENTWISE, each, none, same
from opperf.domain.case import Argument
from opperf.domain.tensor import TensorSpec

# Operators that write their result into their first input, which holds no gradient then: one operation an element.

#: Right sides away from zero, which a division needs.
POSITIVE = (0.5, 1.5)


def _binary(name: str, summary: str, bounds: tuple[float, float] | None = None) -> Operator:
    return Operator(
        name=name,
        category="inplace",
        summary=summary,
        inputs=("lhs", "rhs"),
        sizes={
            size: {"lhs": TensorSpec(shape), "rhs": TensorSpec(shape, range=bounds)}
            for size, shape in ELEMENTWISE.items()
        },
        outputs=same("lhs"),
        flops=each(1, "lhs"),
        directions=FORWARD_ONLY,
        mutates=("lhs",),
    )


def _unary(name: str, summary: str, **attributes: Argument) -> Operator:
    return Operator(
        name=name,
        category="inplace",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape), **attributes} for size, shape in ELEMENTWISE.items()},
        outputs=same(),
        flops=each(1),
        directions=FORWARD_ONLY,
        mutates=("data",),
    )


OPERATORS = (
    _binary("add_inplace", "the right added to the left, in place"),
    _binary("subtract_inplace", "the right subtracted from the left, in place"),
    _binary("multiply_inplace", "the left multiplied by the right, in place"),
    _binary("divide_inplace", "the left divided by the right, in place", POSITIVE),
    _binary("remainder_inplace", "the remainder of the left divided by the right, in place", POSITIVE),
    _unary("relu_inplace", "negative values set to 0, in place"),
    _unary("clip_inplace", "values clamped to `low` and `high`, in place", low=-0.5, high=0.5),
    Operator(
        name="copy_to",
        category="inplace",
        summary="the data copied into an existing tensor",
        inputs=("data", "destination"),
        sizes={
            size: {"data": TensorSpec(shape), "destination": TensorSpec(shape)} for size, shape in ELEMENTWISE.items()
        },
        outputs=same(),
        flops=none,
        directions=FORWARD_ONLY,
        mutates=("destination",),
        # What is replaced is not read.
        reads=("data",),
        picks=none,
        aliases=("copyto",),
    ),
    Operator(
        name="set_item",
        category="inplace",
        summary="every element replaced by the updates, as in `data[:] = updates`",
        inputs=("data", "updates"),
        sizes={size: {"data": TensorSpec(shape), "updates": TensorSpec(shape)} for size, shape in ELEMENTWISE.items()},
        outputs=same(),
        flops=none,
        directions=FORWARD_ONLY,
        mutates=("data",),
        # What is replaced is not read.
        reads=("updates",),
        picks=none,
    ),
)
