"""Batches of sequences of unequal length: data is (length, batch, width), and each sequence has its own length.

Moving data is no arithmetic: zero operations.
"""

from __future__ import annotations

from opperf.catalog.definition import Arguments, Operator, Outputs
from opperf.catalog.formulas import like, none, same
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import TensorSpec

_Shape = tuple[int, int, int]

#: (length, batch, width): skewed are few long sequences of short rows.
SHAPES: dict[str, _Shape] = {
    "small": (8, 4, 16),
    "common": (128, 32, 256),
    "large": (512, 64, 512),
    "skewed": (10_000, 4, 10),
}


def _last(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, data.shape[1:]),)


def _sequence(
    name: str, summary: str, outputs: Outputs, reads: tuple[str, ...] | None = None, **attributes: Argument
) -> Operator:
    def arguments(shape: _Shape) -> Arguments:
        length, batch, _ = shape
        lengths = TensorSpec((batch,), "int64", range=(1, length + 1))
        return {"data": TensorSpec(shape), "lengths": lengths, **attributes}

    return Operator(
        name=name,
        category="sequence",
        summary=summary,
        inputs=("data", "lengths"),
        sizes={size: arguments(shape) for size, shape in SHAPES.items()},
        outputs=outputs,
        flops=none,
        differentiable=("data",),
        reads=reads,
    )


OPERATORS = (
    _sequence("sequence_mask", "what lies beyond the length of each sequence replaced by `value`", same(), value=0.0),
    _sequence("sequence_reverse", "each sequence in reverse order, what lies beyond its length left in place", same()),
    _sequence("sequence_last", "the last row of each sequence", _last, reads=("lengths",)),
)
