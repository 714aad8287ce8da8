"""What Python code does with tensors around operators; a part of the family of shapes."""

from __future__ import annotations

from opperf.catalog.definition import DIRECTIONS, FORWARD_ONLY, Operator, Outputs
from opperf.catalog.formulas import (
    ELEMENTWISE,
    like,
    none,
    same,
)
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

# What Python code does with tensors around operators: brackets, layouts, and the way out to NumPy. No arithmetic.


def _row(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, data.shape[1:]),)


def _nothing(case: Case) -> tuple[TensorSpec, ...]:
    """Return no tensors: the array that comes out is none of the framework's."""
    return ()


#: One element, in ever more dimensions.
ONE = {"small": (1,), "common": (1, 1), "large": (1, 1, 1), "skewed": (1, 1, 1, 1)}


def _sizes_of(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((len(case.tensor("data").shape),), "int64"),)


def _count(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((1,), "int64"),)


def _query(name: str, summary: str, outputs: Outputs) -> Operator:
    """Declare what a framework knows of a tensor without looking at its elements."""
    return Operator(
        name=name,
        category="conversion",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape)} for size, shape in ELEMENTWISE.items()},
        outputs=outputs,
        flops=none,
        directions=FORWARD_ONLY,
        reads=(),
    )


OPERATORS = (
    _query("shape_array", "the shape of the tensor, as a tensor", _sizes_of),
    _query("size_array", "the number of elements of the tensor, as a tensor", _count),
    Operator(
        name="item",
        category="conversion",
        summary="the only element of a tensor, as a Python number",
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape)} for size, shape in ONE.items()},
        outputs=_nothing,
        flops=none,
        directions=FORWARD_ONLY,
        aliases=("asscalar",),
    ),
    Operator(
        name="to_device",
        category="conversion",
        summary="the tensor on `device`; the same tensor where it is there already",
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape), "device": "cpu"} for size, shape in ELEMENTWISE.items()},
        outputs=same(),
        flops=none,
        directions=FORWARD_ONLY,
        aliasing=FORWARD_ONLY,
        aliases=("as_in_context", "as_in_ctx"),
    ),
    Operator(
        name="get_item",
        category="conversion",
        summary="the part at `index` of the first dimension, as in `data[index]` (a view in some frameworks)",
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
        summary="a transposed tensor copied to row-major order",
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape, strides=(1, shape[0]))} for size, shape in ELEMENTWISE.items()},
        outputs=same(),
        flops=none,
        directions=FORWARD_ONLY,
    ),
    Operator(
        name="to_numpy",
        category="conversion",
        summary="the tensor as a NumPy array on the host (a view in some frameworks)",
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape)} for size, shape in ELEMENTWISE.items()},
        outputs=_nothing,
        flops=none,
        directions=FORWARD_ONLY,
        aliasing=FORWARD_ONLY,
        aliases=("asnumpy",),
    ),
)
