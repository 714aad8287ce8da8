"""Operators that fold a tensor along axes, and running sums along one.

`axis` is a number, a tuple or None for all axes; `keepdims` leaves folded axes with size one. Floating-point operations
are counted for each element of the input (work for each output is left out, being smaller by the length of the axis):
one to add, multiply or compare; two to square and add; four for a variance (mean, difference, square and add) and for a
stable logsumexp (maximum, difference, exponential, sum).
"""

from __future__ import annotations

from opperf.catalog.definition import EVERY_DIRECTION, FORWARD_ONLY, Operator
from opperf.catalog.formulas import ELEMENTWISE, each, like, reduced, same
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import TensorSpec

#: Along rows, but for the tall thin table, which is folded along its long axis.
AXES = {"small": 1, "common": 1, "large": 1, "skewed": 0}

#: Kinds of data: only dtype and range are read.
PLAIN = TensorSpec(())
#: Close to one, so that a product of 100,000 of them neither overflows nor vanishes.
NEAR_ONE = TensorSpec((), range=(0.99, 1.01))
TRUTH = TensorSpec((), "bool")


def _sizes(tensor: TensorSpec, **attributes: Argument) -> dict[str, dict[str, Argument]]:
    return {
        size: {"data": TensorSpec(shape, tensor.dtype, range=tensor.range), "axis": AXES[size], **attributes}
        for size, shape in ELEMENTWISE.items()
    }


def _reduction(
    name: str,
    summary: str,
    *,
    operations: int = 1,
    data: TensorSpec = PLAIN,
    result: str | None = None,
    aliasing: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    rough: bool = False,
) -> Operator:
    """Declare `name`; with a `result` dtype of its own it has no gradient."""

    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        tensor = case.tensor("data")
        return (like(tensor, reduced(case, tensor.shape), result),)

    return Operator(
        name=name,
        category="reduction",
        summary=summary,
        inputs=("data",),
        sizes=_sizes(data, keepdims=False),
        outputs=outputs,
        flops=each(operations),
        directions=FORWARD_ONLY if result else EVERY_DIRECTION,
        differentiable=() if result else ("data",),
        aliasing=aliasing,
        aliases=aliases,
        rough=rough,
    )


def _running(name: str, summary: str, data: TensorSpec, *, rough: bool = False) -> Operator:
    return Operator(
        name=name,
        category="reduction",
        summary=summary,
        inputs=("data",),
        sizes=_sizes(data),
        outputs=same(),
        flops=each(1),
        differentiable=("data",),
        rough=rough,
    )


OPERATORS = (
    _reduction("sum", "the sum", aliasing=("backward",)),
    _reduction("mean", "the mean", aliases=("average",)),
    _reduction("max", "the largest value", aliases=("amax",)),
    _reduction("min", "the smallest value", aliases=("amin",)),
    _reduction("prod", "the product", data=NEAR_ONE, aliases=("product",), rough=True),
    _reduction("nansum", "the sum of all that are numbers", aliasing=("backward",)),
    _reduction("nanprod", "the product of all that are numbers", data=NEAR_ONE, rough=True),
    _reduction("norm", "the Euclidean norm", operations=2, aliases=("l2_norm",)),
    _reduction("variance", "the population variance", operations=4, aliases=("var",)),
    _reduction("std", "the population standard deviation", operations=4, aliases=("standard_deviation",)),
    _reduction("logsumexp", "the logarithm of the sum of the exponentials", operations=4),
    _reduction("argmax", "the index of the largest value (along one axis; None flattens)", result="int64"),
    _reduction("argmin", "the index of the smallest value (along one axis; None flattens)", result="int64"),
    _reduction("all", "whether all are true", data=TRUTH, result="bool"),
    _reduction("any", "whether at least one is true", data=TRUTH, result="bool"),
    _running("cumsum", "the running sum along an axis", PLAIN),
    _running("cumprod", "the running product along an axis", NEAR_ONE, rough=True),
)
