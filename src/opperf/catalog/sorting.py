"""Sorting and selecting along an axis.

Sorting n elements is counted as n log2(n) comparisons, rounded up to whole levels of a merge, and selecting k of n as
n log2(k), those of a heap; one comparison is one operation. Sizes are smaller than elsewhere, for sorting is slow.
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import EVERY_DIRECTION, FORWARD_ONLY, Operator
from opperf.catalog.formulas import axis_of, like, same, whole
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

_Shape = tuple[int, ...]

SHAPES: Mapping[str, _Shape] = {
    "small": (32, 32),
    "common": (256, 1024),
    "large": (1024, 1024),
    "skewed": (4, 100_000),
}
#: (rows, row length), k: the best few of a vocabulary's logits.
SELECTIONS: Mapping[str, tuple[_Shape, int]] = {
    "small": ((8, 128), 5),
    "common": ((32, 32_000), 50),
    "large": ((128, 32_000), 50),
    "skewed": ((1, 1_000_000), 10),
}


def _levels(count: int) -> int:
    """Return log2 of the count, rounded up, at least one."""
    return max(1, (count - 1).bit_length())


def _sort_flops(case: Case) -> int:
    data = case.tensor("data")
    return data.elements * _levels(data.shape[axis_of(case, len(data.shape))])


def _positions(case: Case) -> tuple[TensorSpec, ...]:
    return (like(case.tensor("data"), dtype="int64"),)


def _best(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    axis = axis_of(case, len(data.shape))
    shape = (*data.shape[:axis], whole(case, "k"), *data.shape[axis + 1 :])
    return (like(data, shape), like(data, shape, "int64"))


def _sort(name: str, summary: str, *, smooth: bool) -> Operator:
    return Operator(
        name=name,
        category="sorting",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape), "axis": -1, "descending": False} for size, shape in SHAPES.items()},
        outputs=same() if smooth else _positions,
        flops=_sort_flops,
        directions=EVERY_DIRECTION if smooth else FORWARD_ONLY,
        differentiable=("data",) if smooth else (),
    )


OPERATORS = (
    _sort("sort", "the values in order (indices that a framework returns with them are not counted)", smooth=True),
    _sort("argsort", "the indices that put the values in order", smooth=False),
    Operator(
        name="topk",
        category="sorting",
        summary="the `k` largest (or smallest) values in order, and their indices",
        inputs=("data",),
        sizes={
            size: {"data": TensorSpec(shape), "k": k, "axis": -1, "largest": True}
            for size, (shape, k) in SELECTIONS.items()
        },
        outputs=_best,
        flops=lambda case: case.tensor("data").elements * _levels(whole(case, "k")),
        differentiable=("data",),
        aliases=("top_k",),
    ),
)
