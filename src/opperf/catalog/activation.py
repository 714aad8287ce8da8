"""Activations: one function of each element, and so one operation each, however it is computed."""

from __future__ import annotations

from opperf.catalog.definition import Operator
from opperf.catalog.formulas import ELEMENTWISE, each, same
from opperf.domain.case import Argument
from opperf.domain.tensor import TensorSpec

#: Wide enough that every branch is taken.
VALUES = (-4.0, 4.0)


def _activation(name: str, summary: str, *aliases: str, **attributes: Argument) -> Operator:
    return Operator(
        name=name,
        category="activation",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape, range=VALUES), **attributes} for size, shape in ELEMENTWISE.items()},
        outputs=same(),
        flops=each(1),
        differentiable=("data",),
        aliases=aliases,
    )


OPERATORS = (
    _activation("relu", "the value where positive, else 0"),
    _activation("relu6", "the value between 0 and 6, or the nearer of them"),
    _activation("sigmoid", "one over one plus e to the power of minus the value", "logistic"),
    _activation("tanh", "the hyperbolic tangent"),
    _activation(
        "gelu", "the value times the normal distribution; `approximate` is `none` (erf) or `tanh`", approximate="none"
    ),
    _activation("silu", "the value times its sigmoid", "swish"),
    _activation("mish", "the value times the hyperbolic tangent of its softplus"),
    _activation("leaky_relu", "the value where positive, else `slope` times it", slope=0.01),
    _activation("elu", "the value where positive, else `alpha` (e to the power of it, minus one)", alpha=1.0),
    _activation("selu", "elu with the two constants that keep mean and variance"),
    _activation("softplus", "the logarithm of one plus e to the power of the value", "softrelu"),
    _activation("softsign", "the value over one plus its absolute value"),
    _activation("log_sigmoid", "the logarithm of the sigmoid", "logsigmoid"),
    _activation("hard_sigmoid", "a sixth of the value plus a half, between 0 and 1", "hardsigmoid"),
    _activation("hard_swish", "the value times its hard sigmoid", "hardswish", "hard_silu"),
    Operator(
        name="prelu",
        category="activation",
        summary="the value where positive, else times the weight of its channel (axis 1)",
        inputs=("data", "weight"),
        sizes={
            size: {"data": TensorSpec(shape, range=VALUES), "weight": TensorSpec((shape[1],), range=(0.0, 0.5))}
            for size, shape in ELEMENTWISE.items()
        },
        outputs=same(),
        flops=each(1),
        differentiable=("data", "weight"),
    ),
)
