"""Rows looked up by index, alone or summed in bags, and indices spread into rows.

Moving data is no arithmetic: zero operations, but for a sum for each element of each row that goes into a bag.
"""

from __future__ import annotations

from opperf.catalog.definition import FORWARD_ONLY, Arguments, Operator
from opperf.catalog.formulas import element_type, indices, like, none, product, whole
from opperf.domain.case import Case, DType
from opperf.domain.tensor import TensorSpec


def _rows(case: Case) -> tuple[TensorSpec, ...]:
    weight = case.tensor("weight")
    return (like(weight, (*case.tensor("indices").shape, *weight.shape[1:])),)


def _spread(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((*case.tensor("indices").shape, whole(case, "depth")), element_type(case)),)


def _table(rows: int, width: int, batch: tuple[int, int]) -> Arguments:
    return {"indices": indices(batch, rows), "weight": TensorSpec((rows, width))}


def _classes(depth: int, count: int) -> Arguments:
    return {"indices": indices((count,), depth), "depth": depth, "dtype": DType("float32")}


def _bags(case: Case) -> tuple[TensorSpec, ...]:
    weight = case.tensor("weight")
    return (like(weight, (*case.tensor("indices").shape[:-1], *weight.shape[1:])),)


def _bag_flops(case: Case) -> int:
    return product(_rows(case)[0].shape)


def _bag_bytes(case: Case) -> int:
    return _rows(case)[0].nbytes


def _bag(name: str, summary: str) -> Operator:
    return Operator(
        name=name,
        category="embedding",
        summary=summary,
        inputs=("indices", "weight"),
        # Skewed is a recommender's: a million short rows, long bags.
        sizes={
            "small": _table(64, 16, (8, 4)),
            "common": _table(32_000, 128, (256, 32)),
            "large": _table(100_000, 256, (1024, 64)),
            "skewed": _table(1_000_000, 16, (64, 200)),
        },
        outputs=_bags,
        flops=_bag_flops,
        differentiable=("weight",),
        reads=("indices",),
        picks=_bag_bytes,
    )


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
    _bag("embedding_bag_sum", "for each row of indices the sum of the weight's rows that they pick"),
    _bag("embedding_bag_mean", "for each row of indices the mean of the weight's rows that they pick"),
)
