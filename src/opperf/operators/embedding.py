"""Rows looked up by index, and indices spread into rows. Moving data is no arithmetic: zero operations."""

from __future__ import annotations

from opperf.case import Case, DType
from opperf.operators.definition import FORWARD_ONLY, Arguments, Operator
from opperf.operators.formulas import element_type, indices, like, none, whole
from opperf.tensor import TensorSpec


def _rows(case: Case) -> tuple[TensorSpec, ...]:
    weight = case.tensor("weight")
    return (like(weight, (*case.tensor("indices").shape, *weight.shape[1:])),)


def _spread(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((*case.tensor("indices").shape, whole(case, "depth")), element_type(case)),)


def _table(rows: int, width: int, batch: tuple[int, int]) -> Arguments:
    return {"indices": indices(batch, rows), "weight": TensorSpec((rows, width))}


def _classes(depth: int, count: int) -> Arguments:
    return {"indices": indices((count,), depth), "depth": depth, "dtype": DType("float32")}


OPERATORS = (
    Operator(
        name="embedding",
        category="embedding",
        summary="the row of the weight for each index",
        inputs=("indices", "weight"),
        # Skewed is a recommender's: a million short rows.
        sizes={
            "small": _table(64, 16, (8, 8)),
            "common": _table(32_000, 256, (32, 128)),
            "large": _table(32_000, 768, (32, 512)),
            "skewed": _table(1_000_000, 16, (64, 26)),
        },
        outputs=_rows,
        flops=none,
        differentiable=("weight",),
        reads=("indices",),
    ),
    Operator(
        name="one_hot",
        category="embedding",
        summary="for each index a row of `depth` zeros with a one at that place",
        inputs=("indices",),
        sizes={
            "small": _classes(32, 32),
            "common": _classes(1000, 1024),
            "large": _classes(32_000, 512),
            "skewed": _classes(10, 100_000),
        },
        outputs=_spread,
        flops=none,
        directions=FORWARD_ONLY,
    ),
)
