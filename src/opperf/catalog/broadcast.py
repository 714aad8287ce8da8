"""Element-wise operators of two tensors of different shapes, where one is repeated along the dimensions it lacks.

They are the operators of `elementwise_binary` under a name of their own, because the repeated side is read differently,
its gradient is a sum, and MXNet has separate operators for them.
"""

from __future__ import annotations

from opperf.catalog.definition import DIRECTIONS, EVERY_DIRECTION, FORWARD_ONLY, Operator
from opperf.catalog.formulas import broadcast_outputs, each_output, like, none, wholes
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

#: The two shapes: a row onto a table, a column onto a table, a column against a row, a short row onto a tall table.
SHAPES = {
    "small": ((32, 32), (32,)),
    "common": ((1024, 1024), (1024, 1)),
    "large": ((4096, 1), (1, 4096)),
    "skewed": ((100_000, 10), (10,)),
}


def _broadcast(
    name: str,
    summary: str,
    *,
    left: tuple[float, float] = (-1.0, 1.0),
    right: tuple[float, float] = (-1.0, 1.0),
    result: str | None = None,
    aliasing: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
) -> Operator:
    outputs = broadcast_outputs(result)
    return Operator(
        name=name,
        category="broadcast",
        summary=summary,
        inputs=("lhs", "rhs"),
        sizes={
            size: {"lhs": TensorSpec(lhs, range=left), "rhs": TensorSpec(rhs, range=right)}
            for size, (lhs, rhs) in SHAPES.items()
        },
        outputs=outputs,
        flops=each_output(1, outputs),
        directions=FORWARD_ONLY if result else EVERY_DIRECTION,
        differentiable=() if result else ("lhs", "rhs"),
        aliasing=aliasing,
        aliases=aliases,
    )


def _to_shape(case: Case) -> tuple[TensorSpec, ...]:
    return (like(case.tensor("data"), wholes(case, "shape")),)


OPERATORS = (
    _broadcast("broadcast_add", "the sum, broadcasting", aliasing=("backward",), aliases=("broadcast_plus",)),
    _broadcast(
        "broadcast_subtract",
        "the difference, broadcasting",
        aliasing=("backward",),
        aliases=("broadcast_sub", "broadcast_minus"),
    ),
    _broadcast("broadcast_multiply", "the product, broadcasting", aliases=("broadcast_mul",)),
    _broadcast("broadcast_divide", "the quotient, broadcasting", right=(0.5, 2.0), aliases=("broadcast_div",)),
    _broadcast("broadcast_power", "the power, broadcasting", left=(0.1, 2.0)),
    _broadcast("broadcast_maximum", "the larger, broadcasting"),
    _broadcast("broadcast_minimum", "the smaller, broadcasting"),
    _broadcast("broadcast_equal", "whether both are equal, broadcasting", result="bool"),
    _broadcast("broadcast_greater", "whether the left is larger, broadcasting", result="bool"),
    Operator(
        name="broadcast_to",
        category="broadcast",
        summary="the tensor repeated to a larger shape (a view in some frameworks)",
        inputs=("data",),
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
