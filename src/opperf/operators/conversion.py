"""What Python code does with tensors around operators: brackets, layouts, and the way out to NumPy. No arithmetic."""

from __future__ import annotations

from opperf.case import Case
from opperf.operators.definition import DIRECTIONS, FORWARD_ONLY, Operator
from opperf.operators.formulas import ELEMENTWISE, like, none, same
from opperf.tensor import TensorSpec


def _row(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, data.shape[1:]),)


def _nothing(case: Case) -> tuple[TensorSpec, ...]:
    """Return no tensors: the array that comes out is none of the framework's."""
    return ()


OPERATORS = (
    Operator(
        name="get_item",
        category="conversion",
        summary="the part at `index` of the first dimension, as `data[index]` says (a view in some frameworks)",
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape), "index": 3} for size, shape in ELEMENTWISE.items()},
        outputs=_row,
        flops=none,
        differentiable=("data",),
        aliasing=DIRECTIONS,
    ),
    Operator(
        name="contiguous",
        category="conversion",
        summary="the elements of a transposed tensor laid out row by row",
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape, strides=(1, shape[0]))} for size, shape in ELEMENTWISE.items()},
        outputs=same(),
        flops=none,
        directions=FORWARD_ONLY,
    ),
    Operator(
        name="to_numpy",
        category="conversion",
        summary="the tensor as an array of NumPy on the host (a view in some frameworks)",
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape)} for size, shape in ELEMENTWISE.items()},
        outputs=_nothing,
        flops=none,
        directions=FORWARD_ONLY,
        aliasing=FORWARD_ONLY,
        aliases=("asnumpy",),
    ),
)
