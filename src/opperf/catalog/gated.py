"""Gated activations: the last dimension is cut in two, and the first half passes through the gate of the second.

Two operations for each element of the result: the activation of the gate, and the product.
"""

from __future__ import annotations

from opperf.catalog.definition import Operator
from opperf.catalog.formulas import ELEMENTWISE, each_output, like
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

#: Wide enough that every branch of an activation is taken.
VALUES = (-4.0, 4.0)


def _half(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    *rows, width = data.shape
    if width % 2:
        raise InputError(f"`{case.operator}` cuts the last dimension in two, and it has {width} elements")
    return (like(data, (*rows, width // 2)),)


def _gated(name: str, summary: str, **attributes: Argument) -> Operator:
    return Operator(
        name=name,
        category="gated",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape, range=VALUES), **attributes} for size, shape in ELEMENTWISE.items()},
        outputs=_half,
        flops=each_output(2, _half),
        differentiable=("data",),
    )


OPERATORS = (
    _gated("glu", "the first half of the last dimension times the sigmoid of the second"),
    _gated("reglu", "the first half of the last dimension times the relu of the second"),
    _gated("swiglu", "the first half of the last dimension times the silu of the second"),
    _gated(
        "geglu",
        "the first half of the last dimension times the gelu of the second; `approximate` is `none` (erf) or `tanh`",
        approximate="none",
    ),
)
