"""Indexing and embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from opperf.catalog.definition import (
    DIRECTIONS,
    Arguments,
    Formula,
    Operator,
    Outputs,
    broadcast,
)
from opperf.catalog.formulas import (
    ELEMENTWISE,
    axis_of,
    each,
    element_type,
    indices,
    like,
    none,
    product,
    same,
    whole,
    wholes,
)
from opperf.domain.case import Argument, Case, DType, tensors_of
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Operators that pick or place elements by index, range or mask.
#
# Moving data is no arithmetic: zero operations, but for one addition for each element that `scatter_add` places.

_Shape = tuple[int, ...]


def _take(case: Case) -> tuple[TensorSpec, ...]:
    data, places = case.tensor("data"), case.tensor("indices").shape
    if case.get("axis") is None:
        return (like(data, places),)
    axis = axis_of(case, len(data.shape))
    return (like(data, data.shape[:axis] + places + data.shape[axis + 1 :]),)


def _gather(case: Case) -> tuple[TensorSpec, ...]:
    return (like(case.tensor("data"), case.tensor("indices").shape),)


def _unravel(case: Case) -> tuple[TensorSpec]:
    shape, places = wholes(case, "shape"), case.tensor("indices")
    if places.range is not None and places.range[1] > prod(shape):
        raise InputError(f"`indices` go up to {places.range[1]:g}, and a tensor of {shape} has {prod(shape)} elements")
    return (TensorSpec((len(shape), *places.shape), "int64"),)


def _gather_nd(case: Case) -> tuple[TensorSpec, ...]:
    data, places = case.tensor("data"), case.tensor("indices").shape
    return (like(data, places[1:] + data.shape[places[0] :]),)


def _choose(case: Case) -> tuple[TensorSpec, ...]:
    # Either side may be a scalar, which says nothing about the dtype.
    first = next(tensor for role in ("lhs", "rhs", "condition") for tensor in tensors_of(case.get(role)))
    return (like(first, broadcast(*(tensor.shape for tensor in case.tensors()))),)


def _bounds(case: Case, name: str, rank: int, default: int | None) -> tuple[int | None, ...]:
    value = case.get(name)
    items: tuple[Argument, ...] = value if isinstance(value, tuple) else (value,)
    bounds = tuple(default if item is None else item for item in items if item is None or isinstance(item, int))
    if len(bounds) != len(items) or len(bounds) > rank:
        raise InputError(f"`{name}` of `{case.operator}` is {value!r}, expected up to {rank} whole numbers or nulls")
    return bounds + (default,) * (rank - len(bounds))


def _slice(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    rank = len(data.shape)
    parts = zip(
        data.shape,
        _bounds(case, "begin", rank, None),
        _bounds(case, "end", rank, None),
        _bounds(case, "step", rank, 1),
        strict=True,
    )
    return (like(data, tuple(len(range(*slice(begin, end, step).indices(size))) for size, begin, end, step in parts)),)


def _indexing(
    name: str,
    summary: str,
    sizes: Mapping[str, Arguments],
    outputs: Outputs,
    *,
    differentiable: tuple[str, ...] = ("data",),
    flops: Formula = none,
    **more: Any,
) -> Operator:
    """Declare `name`; `more` are fields of `Operator`."""
    return Operator(name, "indexing", summary, sizes, outputs, flops, differentiable=differentiable, **more)


#: Every element has an index of its own of 8 bytes, and random access is slow: smaller than elsewhere.
_POINTWISE = {**ELEMENTWISE, "large": (2048, 2048)}
#: As many rows picked as there are (small, common, large), few of very many (skewed).
_PICKS = {"small": 32, "common": 1024, "large": 4096, "skewed": 1000}


def _rows() -> dict[str, Arguments]:
    return {
        size: {"data": TensorSpec(shape), "indices": indices((_PICKS[size],), shape[0]), "axis": 0}
        for size, shape in ELEMENTWISE.items()
    }


def _points(shape: _Shape) -> Arguments:
    # Both coordinates come from one range, so it ends at the shorter dimension.
    return {"data": TensorSpec(shape), "indices": indices((2, shape[0]), min(shape))}


def _part(shape: _Shape) -> Arguments:
    rows, columns = shape
    return {"data": TensorSpec(shape), "begin": (rows // 4, 0), "end": (rows, columns // 2), "step": (1, 1)}


_INDEXING = (
    _indexing(
        "take",
        "the slices along `axis` at the indices, which may have any shape; None takes from the flattened tensor",
        _rows(),
        _take,
        reads=("indices",),
    ),
    _indexing(
        "index_select",
        "the slices along `axis` at a vector of indices",
        _rows(),
        _take,
        reads=("indices",),
    ),
    _indexing(
        "gather",
        "the elements at the indices along `axis`",
        {
            size: {"data": TensorSpec(shape), "indices": indices(shape, shape[0]), "axis": 0}
            for size, shape in _POINTWISE.items()
        },
        _gather,
        reads=("indices",),
        aliases=("take_along_axis",),
    ),
    _indexing(
        "pick",
        "one element along `axis` for each index",
        {
            size: {"data": TensorSpec(shape), "indices": indices(shape[:1], shape[1]), "axis": -1}
            for size, shape in ELEMENTWISE.items()
        },
        _gather,
        reads=("indices",),
        aliases=("batch_take", "choose_element"),
    ),
    _indexing(
        "ravel_multi_index",
        "the flat indices in a tensor of `shape` for coordinates in the first dimension",
        {
            size: {"indices": indices((2, shape[0] * shape[1] // 2), min(shape)), "shape": shape}
            for size, shape in _POINTWISE.items()
        },
        lambda case: (TensorSpec(case.tensor("indices").shape[1:], "int64"),),
        differentiable=(),
        flops=lambda case: 2 * case.tensor("indices").elements,
    ),
    _indexing(
        "unravel_index",
        "the coordinates in a tensor of `shape`, in the first dimension, for flat indices",
        {
            size: {"indices": indices((shape[0] * shape[1],), shape[0] * shape[1]), "shape": shape}
            for size, shape in _POINTWISE.items()
        },
        _unravel,
        differentiable=(),
        # A division and its remainder for each coordinate.
        flops=lambda case: 2 * len(wholes(case, "shape")) * case.tensor("indices").elements,
    ),
    _indexing(
        "gather_nd",
        "the elements at points; the first dimension of the indices holds their coordinates",
        {size: _points(shape) for size, shape in ELEMENTWISE.items()},
        _gather_nd,
        reads=("indices",),
    ),
    _indexing(
        "scatter_add",
        "a copy of the data with each update added at its index along `axis`",
        {
            size: {
                "data": TensorSpec(shape),
                "indices": indices(shape, shape[0]),
                "updates": TensorSpec(shape),
                "axis": 0,
            }
            for size, shape in _POINTWISE.items()
        },
        same(),
        differentiable=("data", "updates"),
        flops=each(1, "updates"),
    ),
    _indexing(
        "where",
        "the left where the condition is true, else the right",
        {
            size: {"condition": TensorSpec(shape, "bool"), "lhs": TensorSpec(shape), "rhs": TensorSpec(shape)}
            for size, shape in ELEMENTWISE.items()
        },
        _choose,
        differentiable=("lhs", "rhs"),
    ),
    _indexing(
        "masked_fill",
        "a copy of the data with `value` where the mask is true",
        {
            size: {"data": TensorSpec(shape), "mask": TensorSpec(shape, "bool"), "value": 0.0}
            for size, shape in ELEMENTWISE.items()
        },
        same(),
    ),
    _indexing(
        "slice",
        "the part from `begin` up to `end` (exclusive) by `step`, for each dimension (a view in some frameworks)",
        {size: _part(shape) for size, shape in ELEMENTWISE.items()},
        _slice,
        aliasing=DIRECTIONS,
    ),
)


# Rows looked up by index, alone or summed in bags, and indices spread into rows.
#
# Moving data is no arithmetic: zero operations, but for a sum for each element of each row that goes into a bag.


def _embedding_rows(case: Case) -> tuple[TensorSpec, ...]:
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
    return product(_embedding_rows(case)[0].shape)


def _bag_bytes(case: Case) -> int:
    return _embedding_rows(case)[0].nbytes


def _bag(name: str, summary: str) -> Operator:
    # Skewed is a recommender's: a million short rows, long bags.
    sizes = {
        "small": _table(64, 16, (8, 4)),
        "common": _table(32_000, 128, (256, 32)),
        "large": _table(100_000, 256, (1024, 64)),
        "skewed": _table(1_000_000, 16, (64, 200)),
    }
    return Operator(
        name,
        "embedding",
        summary,
        sizes=sizes,
        outputs=_bags,
        flops=_bag_flops,
        differentiable=("weight",),
        reads=("indices",),
        picks=_bag_bytes,
    )


_EMBEDDING = (
    # Skewed is a recommender's: a million short rows.
    Operator(
        "embedding",
        "embedding",
        "the row of the weight at each index",
        sizes={
            "small": _table(64, 16, (8, 8)),
            "common": _table(32_000, 256, (32, 128)),
            "large": _table(32_000, 768, (32, 512)),
            "skewed": _table(1_000_000, 16, (64, 26)),
        },
        outputs=_embedding_rows,
        flops=none,
        differentiable=("weight",),
        reads=("indices",),
    ),
    Operator(
        "one_hot",
        "embedding",
        "for each index, a row of `depth` zeros with a one at that position",
        sizes={
            "small": _classes(32, 32),
            "common": _classes(1000, 1024),
            "large": _classes(32_000, 512),
            "skewed": _classes(10, 100_000),
        },
        outputs=_spread,
        flops=none,
    ),
    _bag("embedding_bag_sum", "for each row of indices, the sum of the weight's rows at them"),
    _bag("embedding_bag_mean", "for each row of indices, the mean of the weight's rows at them"),
)


OPERATORS = (*_INDEXING, *_EMBEDDING)
