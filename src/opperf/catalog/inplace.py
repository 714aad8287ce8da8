"""Elementwise operators in place; a part of the elementwise family."""

from __future__ import annotations

from opperf.catalog.definition import Operator
from opperf.catalog.formulas import ELEMENTWISE, each, none, same, tensors
from opperf.domain.case import Argument
from opperf.domain.tensor import TensorSpec

# Operators that write their result into their first input, which holds no gradient then: one operation an element.

#: Right sides away from zero, which a division needs.
POSITIVE = (0.5, 1.5)


def _binary(name: str, summary: str, bounds: tuple[float, float] | None = None) -> Operator:
    sizes = {
        size: {"lhs": TensorSpec(shape), "rhs": TensorSpec(shape, range=bounds)} for size, shape in ELEMENTWISE.items()
    }
    return Operator(name, "inplace", summary, sizes, same("lhs"), each(1, "lhs"), mutates=("lhs",))


def _unary(name: str, summary: str, **attributes: Argument) -> Operator:
    return Operator(name, "inplace", summary, tensors("data", more=attributes), same(), each(1), mutates=("data",))


OPERATORS = (
    _binary("add_inplace", "the right added to the left, in place"),
    _binary("subtract_inplace", "the right subtracted from the left, in place"),
    _binary("multiply_inplace", "the left multiplied by the right, in place"),
    _binary("divide_inplace", "the left divided by the right, in place", POSITIVE),
    _binary("remainder_inplace", "the remainder of the left divided by the right, in place", POSITIVE),
    _unary("relu_inplace", "negative values set to 0, in place"),
    _unary("clip_inplace", "values clamped to `low` and `high`, in place", low=-0.5, high=0.5),
    # What is replaced is not read.
    Operator(
        "copy_to",
        "inplace",
        "the data copied into an existing tensor",
        sizes=tensors("data", "destination"),
        outputs=same(),
        flops=none,
        mutates=("destination",),
        reads=("data",),
        picks=none,
        aliases=("copyto",),
    ),
    # What is replaced is not read.
    Operator(
        "set_item",
        "inplace",
        "every element replaced by the updates, as in `data[:] = updates`",
        sizes=tensors("data", "updates"),
        outputs=same(),
        flops=none,
        mutates=("data",),
        reads=("updates",),
        picks=none,
    ),
)
