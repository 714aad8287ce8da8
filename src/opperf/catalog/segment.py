"""Elements brought together by an index that says where each belongs: sums, means, greatest, counts.

One operation for each element that is placed; a mean has one more for each element of the result, a histogram two for
the place of each. A search takes a comparison for each halving of the sequence. Counting is one operation each.
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import FORWARD_ONLY, Arguments, Formula, Operator, elements
from opperf.catalog.formulas import ELEMENTWISE, each, indices, like, same, whole
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import TensorSpec

_Shape = tuple[int, ...]

#: (rows, width, segments): a graph's messages to its nodes; skewed has short rows in many segments.
SEGMENTS = {
    "small": (64, 16, 8),
    "common": (8192, 64, 1024),
    "large": (65_536, 128, 16_384),
    "skewed": (100_000, 10, 50_000),
}
#: (elements, places)
COUNTS = {"small": (1024, 16), "common": (100_000, 256), "large": (4_000_000, 1024), "skewed": (100_000, 65_536)}
#: (sorted elements, values to find)
SEARCHES = {
    "small": (64, 64),
    "common": (65_536, 65_536),
    "large": (1_000_000, 4_000_000),
    "skewed": (4_000_000, 1000),
}
#: Every update has an index of its own of 8 bytes, and random access is slow: smaller than elsewhere.
POINTWISE = {**ELEMENTWISE, "large": (2048, 2048)}


def _segments(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, (whole(case, "count"), *data.shape[1:])),)


def _mean_flops(case: Case) -> int:
    return case.tensor("data").elements + elements(_segments(case))


def _segmented(name: str, summary: str, flops: Formula) -> Operator:
    def arguments(rows: int, width: int, count: int) -> Arguments:
        return {"data": TensorSpec((rows, width)), "segments": indices((rows,), count), "count": count}

    return Operator(
        name=name,
        category="segment",
        summary=summary,
        inputs=("data", "segments"),
        sizes={size: arguments(*numbers) for size, numbers in SEGMENTS.items()},
        outputs=_segments,
        flops=flops,
        differentiable=("data",),
    )


def _placed(name: str, summary: str, sizes: Mapping[str, Arguments]) -> Operator:
    return Operator(
        name=name,
        category="segment",
        summary=summary,
        inputs=("data", "indices", "updates"),
        sizes=sizes,
        outputs=same(),
        flops=each(1, "updates"),
        differentiable=("data", "updates"),
    )


def _pointwise(shape: _Shape) -> Arguments:
    tensors = {"data": TensorSpec(shape), "indices": indices(shape, shape[0]), "updates": TensorSpec(shape)}
    return {**tensors, "axis": 0}


def _rows(rows: int, width: int, count: int) -> Arguments:
    return {
        "data": TensorSpec((count, width)),
        "indices": indices((rows,), count),
        "updates": TensorSpec((rows, width)),
    }


def _histogram(count: int, bins: int) -> dict[str, Argument]:
    return {"data": TensorSpec((count,)), "bins": bins, "low": -1.0, "high": 1.0}


def _found(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec(case.tensor("values").shape, "int64"),)


def _search_flops(case: Case) -> int:
    return case.tensor("values").elements * case.tensor("data").elements.bit_length()


OPERATORS = (
    _segmented("segment_sum", "the sum of the rows of each of `count` segments; where there is none, zero", each(1)),
    _segmented(
        "segment_mean", "the mean of the rows of each of `count` segments; where there is none, zero", _mean_flops
    ),
    _segmented(
        "segment_max", "the greatest in the rows of each of `count` segments; where there is none, -infinity", each(1)
    ),
    _placed(
        "index_add",
        "a copy of the data with each row of the updates added at its index",
        {size: _rows(*numbers) for size, numbers in SEGMENTS.items()},
    ),
    _placed(
        "scatter_reduce_amax",
        "the greatest of the data and each update at its index along `axis`, all other places being its own",
        {size: _pointwise(shape) for size, shape in POINTWISE.items()},
    ),
    Operator(
        name="bincount",
        category="segment",
        summary="how often each whole number below `count` occurs",
        inputs=("data",),
        sizes={
            size: {"data": indices((number,), places), "count": places} for size, (number, places) in COUNTS.items()
        },
        outputs=lambda case: (TensorSpec((whole(case, "count"),), "int64"),),
        flops=each(1),
        directions=FORWARD_ONLY,
    ),
    Operator(
        name="histogram",
        category="segment",
        summary="how many elements lie in each of `bins` equal parts from `low` to `high`",
        inputs=("data",),
        sizes={size: _histogram(*numbers) for size, numbers in COUNTS.items()},
        outputs=lambda case: (TensorSpec((whole(case, "bins"),), "int64"),),
        flops=each(3),
        directions=FORWARD_ONLY,
        rough=True,
    ),
    Operator(
        name="searchsorted",
        category="segment",
        summary="the place before which each value would stand in the data, which is sorted beforehand",
        inputs=("data", "values"),
        sizes={
            size: {"data": TensorSpec((count,)), "values": TensorSpec((values,))}
            for size, (count, values) in SEARCHES.items()
        },
        outputs=_found,
        flops=_search_flops,
        directions=FORWARD_ONLY,
    ),
)
