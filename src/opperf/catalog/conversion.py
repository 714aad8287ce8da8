"""What Python code does with tensors around operators; a part of the family of shapes."""

from __future__ import annotations

from opperf.catalog.definition import DIRECTIONS, FORWARD_ONLY, Operator, Outputs
from opperf.catalog.formulas import ELEMENTWISE, none, row, same, tensors
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

# What Python code does with tensors around operators: brackets, layouts, and the way out to NumPy. No arithmetic.


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
    return Operator(name, "conversion", summary, tensors("data"), outputs, none, reads=())


OPERATORS = (
    _query("shape_array", "the shape of the tensor, as a tensor", _sizes_of),
    _query("size_array", "the number of elements of the tensor, as a tensor", _count),
    Operator(
        "item",
        "conversion",
        "the only element of a tensor, as a Python number",
        sizes=tensors("data", shapes=ONE),
        outputs=_nothing,
        flops=none,
        aliases=("asscalar",),
    ),
    Operator(
        "to_device",
        "conversion",
        "the tensor on `device`; the same tensor where it is there already",
        sizes=tensors("data", more={"device": "cpu"}),
        outputs=same(),
        flops=none,
        aliasing=FORWARD_ONLY,
        aliases=("as_in_context", "as_in_ctx"),
    ),
    Operator(
        "get_item",
        "conversion",
        "the part at `index` of the first dimension, as in `data[index]` (a view in some frameworks)",
        sizes=tensors("data", more={"index": 3}),
        outputs=row,
        flops=none,
        differentiable=("data",),
        aliasing=DIRECTIONS,
    ),
    Operator(
        "contiguous",
        "conversion",
        "a transposed tensor copied to row-major order",
        sizes={size: {"data": TensorSpec(shape, strides=(1, shape[0]))} for size, shape in ELEMENTWISE.items()},
        outputs=same(),
        flops=none,
    ),
    Operator(
        "to_numpy",
        "conversion",
        "the tensor as a NumPy array on the host (a view in some frameworks)",
        sizes=tensors("data"),
        outputs=_nothing,
        flops=none,
        aliasing=FORWARD_ONLY,
        aliases=("asnumpy",),
    ),
)
