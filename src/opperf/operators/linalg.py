"""Parts of matrices. Decompositions are not here: they need matrices that uniform random numbers do not make."""

from __future__ import annotations

from opperf.case import Argument, Case
from opperf.errors import InputError
from opperf.operators.definition import DIRECTIONS, Formula, Operator, Outputs, elements
from opperf.operators.formulas import ELEMENTWISE, like, none, same, whole
from opperf.tensor import TensorSpec


def _diagonal(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    if len(data.shape) != 2:
        raise InputError(f"`data` of `{case.operator}` has {len(data.shape)} dimensions, expected a matrix")
    (rows, columns), offset = data.shape, whole(case, "offset", 0)
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    return (like(data, (max(0, length),)),)


def _trace(case: Case) -> tuple[TensorSpec, ...]:
    return (like(case.tensor("data"), ()),)


def _matrix(
    name: str, summary: str, outputs: Outputs, flops: Formula = none, *, view: bool = False, **attributes: Argument
) -> Operator:
    return Operator(
        name=name,
        category="linalg",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape), **attributes} for size, shape in ELEMENTWISE.items()},
        outputs=outputs,
        flops=flops,
        differentiable=("data",),
        aliasing=DIRECTIONS if view else (),
    )


OPERATORS = (
    _matrix("trace", "the sum of the diagonal of a matrix", _trace, flops=lambda case: elements(_diagonal(case))),
    _matrix("diagonal", "the diagonal of a matrix (a view in some frameworks)", _diagonal, view=True, offset=0),
    _matrix("triu", "the matrix with zeros below its diagonal", same(), offset=0),
    _matrix("tril", "the matrix with zeros above its diagonal", same(), offset=0),
)
