"""Steps of optimizers, which change the weight they are given; a multiply-add for each element is two operations."""

from __future__ import annotations

from opperf.operators.definition import FORWARD_ONLY, Operator
from opperf.operators.formulas import ELEMENTWISE, each, same
from opperf.tensor import TensorSpec

OPERATORS = (
    Operator(
        name="sgd_update",
        category="optimizer",
        summary="the weight minus `learning_rate` times the gradient, in place where the framework can",
        inputs=("weight", "gradient"),
        sizes={
            size: {"weight": TensorSpec(shape), "gradient": TensorSpec(shape), "learning_rate": 0.01}
            for size, shape in ELEMENTWISE.items()
        },
        outputs=same("weight"),
        flops=each(2, "weight"),
        directions=FORWARD_ONLY,
        mutates=("weight",),
    ),
)
