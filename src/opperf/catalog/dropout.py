"""Dropout: one random function of each element, and so one operation each; none when not training."""

from __future__ import annotations

from opperf.catalog.definition import Operator
from opperf.catalog.formulas import ELEMENTWISE, flag, same
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec


def _flops(case: Case) -> int:
    return case.tensor("data").elements if flag(case, "training", True) else 0


OPERATORS = (
    Operator(
        name="dropout",
        category="dropout",
        summary="zeros with probability `rate`, the rest scaled up by 1 / (1 - rate); the input when not `training`",
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape), "rate": 0.5, "training": True} for size, shape in ELEMENTWISE.items()},
        outputs=same(),
        flops=_flops,
        differentiable=("data",),
        random=True,
    ),
)
