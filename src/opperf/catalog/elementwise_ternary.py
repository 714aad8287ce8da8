"""Operators that apply one function to the elements of three tensors of one shape; a multiply-add is two operations."""

from __future__ import annotations

from opperf.catalog.definition import Operator
from opperf.catalog.formulas import ELEMENTWISE, broadcast_outputs, each_output
from opperf.domain.case import Argument
from opperf.domain.tensor import TensorSpec


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
    return Operator(
        name=name,
        category="elementwise_ternary",
        summary=summary,
        inputs=inputs,
        sizes={
            size: {
                inputs[0]: TensorSpec(shape),
                inputs[1]: TensorSpec(shape),
                inputs[2]: TensorSpec(shape, range=last),
                **attributes,
            }
            for size, shape in ELEMENTWISE.items()
        },
        outputs=outputs,
        flops=each_output(operations, outputs),
        differentiable=inputs,
    )


OPERATORS = (
    _ternary("lerp", "from `start` on the way to `end` as far as `weight` says", ("start", "end", "weight"), 3),
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
