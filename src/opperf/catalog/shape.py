"""Operators that move, join, split and convert data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opperf.catalog import conversion
from opperf.catalog.definition import DIRECTIONS, Arguments, Operator, Outputs
from opperf.catalog.formulas import (
    ELEMENTWISE,
    axes_of,
    axis_of,
    element_type,
    like,
    none,
    product,
    same,
    whole,
    wholes,
)
from opperf.domain.case import Argument, Case, DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Operators that lay out the elements of a tensor anew: zero operations, for moving data is no arithmetic.
#
# Several of them are views in some frameworks (`transpose`, `reshape`, `expand_dims`, `squeeze`, `swap_axes`): then no
# byte moves, and there is no byte count.

_Shape = tuple[int, ...]
#: From the case and the shape of the data to the shape of the result.
_NewShape = Callable[[Case, _Shape], _Shape]


def _transpose(case: Case, shape: _Shape) -> _Shape:
    axes = axes_of(case, len(shape), "axes") if case.get("axes") is not None else tuple(range(len(shape)))[::-1]
    if sorted(axes) != list(range(len(shape))):
        raise InputError(f"`axes` of `{case.operator}` is {list(axes)}, expected each of {len(shape)} dimensions once")
    return tuple(shape[axis] for axis in axes)


def _swap(case: Case, shape: _Shape) -> _Shape:
    first, second = axis_of(case, len(shape), "axis1"), axis_of(case, len(shape), "axis2")
    sizes = list(shape)
    sizes[first], sizes[second] = sizes[second], sizes[first]
    return tuple(sizes)


def _reshape(case: Case, shape: _Shape) -> _Shape:
    sizes, count = wholes(case, "shape"), product(shape)
    rest = product(tuple(size for size in sizes if size != -1))
    result = tuple(count // rest if size == -1 and rest else size for size in sizes)
    if sizes.count(-1) > 1 or min(result, default=0) < 0 or product(result) != count:
        raise InputError(f"`{case.operator}`: {list(shape)} does not fit into the shape {list(sizes)}")
    return result


def _alike(case: Case) -> tuple[TensorSpec, ...]:
    data, shape = case.tensor("data"), case.tensor("like").shape
    if product(shape) != data.elements:
        raise InputError(f"`{case.operator}`: {list(data.shape)} does not fit into the shape {list(shape)}")
    return (like(data, shape),)


def _flatten(case: Case, shape: _Shape) -> _Shape:
    return (shape[0], product(shape[1:]))


def _expand(case: Case, shape: _Shape) -> _Shape:
    axis = axis_of(case, len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


def _squeeze(case: Case, shape: _Shape) -> _Shape:
    if case.get("axis") is None:
        return tuple(size for size in shape if size != 1)
    axes = axes_of(case, len(shape))
    if any(shape[axis] != 1 for axis in axes):
        raise InputError(f"`axis` of `{case.operator}` is {case.get('axis')!r}, and {list(shape)} is not 1 there")
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def _tile(case: Case, shape: _Shape) -> _Shape:
    repeats = wholes(case, "repeats")
    rank = max(len(shape), len(repeats))
    sizes, times = ((1,) * (rank - len(part)) + part for part in (shape, repeats))
    return tuple(size * count for size, count in zip(sizes, times, strict=True))


def _repeat(case: Case, shape: _Shape) -> _Shape:
    repeats = whole(case, "repeats")
    if case.get("axis") is None:
        return (product(shape) * repeats,)
    axis = axis_of(case, len(shape))
    return tuple(size * repeats if i == axis else size for i, size in enumerate(shape))


def _pad(case: Case, shape: _Shape) -> _Shape:
    widths = case.get("widths")
    items = widths if isinstance(widths, tuple) else ()
    pairs = [pair for pair in items if isinstance(pair, tuple) and len(pair) == 2]
    if len(items) != len(shape) or len(pairs) != len(items):
        raise InputError(f"`widths` of `{case.operator}` is {widths!r}, expected {len(shape)} pairs (before, after)")
    return tuple(size + sum(n for n in pair if isinstance(n, int)) for size, pair in zip(shape, pairs, strict=True))


def _cast(case: Case) -> tuple[TensorSpec, ...]:
    return (like(case.tensor("data"), dtype=element_type(case)),)


def _layout(
    name: str,
    summary: str,
    arguments: Callable[[int, int], Arguments],
    new_shape: _NewShape | None = None,
    *,
    outputs: Outputs | None = None,
    **more: Any,
) -> Operator:
    """Declare `name`; `arguments` makes a case of a number of rows and columns; without a `new_shape` it stays.

    `more` are fields of `Operator`.
    """

    def reinterpret(case: Case) -> tuple[TensorSpec, ...]:
        data = case.tensor("data")
        return (like(data, new_shape(case, data.shape) if new_shape else data.shape),)

    sizes = {size: arguments(*shape) for size, shape in ELEMENTWISE.items()}
    return Operator(name, "shape", summary, sizes, outputs or reinterpret, none, differentiable=("data",), **more)


def _table(**attributes: Argument) -> Callable[[int, int], Arguments]:
    """Return cases with a tensor of rows and columns, and these attributes."""
    return lambda rows, columns: {"data": TensorSpec((rows, columns)), **attributes}


_SHAPE = (
    _layout(
        "transpose",
        "the dimensions permuted; `axes` None reverses them",
        _table(axes=(1, 0)),
        _transpose,
        aliasing=DIRECTIONS,
        aliases=("permute",),
    ),
    _layout(
        "swap_axes",
        "two dimensions swapped",
        lambda rows, columns: {"data": TensorSpec((rows // 2, 2, columns)), "axis1": 0, "axis2": 1},
        _swap,
        aliasing=DIRECTIONS,
        aliases=("swapaxes",),
    ),
    _layout(
        "reshape",
        "the same elements in another shape; -1 stands for the remaining size",
        lambda rows, columns: {"data": TensorSpec((rows, columns)), "shape": (rows // 2, columns * 2)},
        _reshape,
        aliasing=DIRECTIONS,
        aliases=("view",),
    ),
    Operator(
        "reshape_like",
        "shape",
        "the same elements in the shape of `like`, whose values are not read",
        sizes={
            size: {"data": TensorSpec((rows, columns)), "like": TensorSpec((rows // 2, columns * 2))}
            for size, (rows, columns) in ELEMENTWISE.items()
        },
        outputs=_alike,
        flops=none,
        differentiable=("data",),
        aliasing=DIRECTIONS,
        aliases=("reshape_as", "view_as"),
    ),
    _layout(
        "flatten",
        "all dimensions but the first merged into one",
        lambda rows, columns: {"data": TensorSpec((rows // 2, 2, columns))},
        _flatten,
        aliasing=DIRECTIONS,
    ),
    _layout(
        "expand_dims",
        "a dimension of size one inserted at `axis`",
        _table(axis=1),
        _expand,
        aliasing=DIRECTIONS,
        aliases=("unsqueeze",),
    ),
    _layout(
        "squeeze",
        "dimensions of size one removed: those in `axis`, or all for None",
        lambda rows, columns: {"data": TensorSpec((rows, 1, columns)), "axis": 1},
        _squeeze,
        aliasing=DIRECTIONS,
    ),
    _layout("flip", "the elements in reverse order along `axis`", _table(axis=0), aliases=("reverse",)),
    _layout("roll", "the elements shifted by `shift` along `axis`, wrapping around", _table(shift=3, axis=0)),
    _layout(
        "tile",
        "the whole tensor repeated along each dimension",
        lambda rows, columns: {"data": TensorSpec((rows // 2, columns // 2)), "repeats": (2, 2)},
        _tile,
    ),
    _layout(
        "repeat",
        "each element repeated along `axis`; None flattens first",
        lambda rows, columns: {"data": TensorSpec((rows // 2, columns)), "repeats": 2, "axis": 0},
        _repeat,
        aliases=("repeat_interleave",),
    ),
    _layout(
        "pad",
        "the tensor padded with `value`; `widths` are (before, after) for each dimension",
        lambda rows, columns: {
            "data": TensorSpec((1, 1, rows, columns)),
            "widths": ((0, 0), (0, 0), (1, 1), (2, 2)),
            "value": 0.0,
        },
        _pad,
    ),
    _layout(
        "copy",
        "a copy of the tensor",
        _table(),
        outputs=same(),
        aliasing=("backward",),
        aliases=("clone",),
    ),
    _layout(
        "cast",
        "the elements converted to another dtype",
        _table(dtype=DType("float16")),
        outputs=_cast,
        aliases=("astype",),
    ),
)


# Operators that join several tensors, or part one. Moving data is no arithmetic: zero operations.

#: How many parts, and the shape of each; skewed is many small ones.
PARTS = {"small": (4, (16, 16)), "common": (4, (512, 512)), "large": (4, (2048, 2048)), "skewed": (100, (1000, 10))}


def _parts(case: Case) -> tuple[TensorSpec, ...]:
    tensors = tuple(case.tensors())
    if not tensors:
        raise InputError(f"`data` of `{case.operator}` holds no tensor")
    return tensors


def _concatenate(case: Case) -> tuple[TensorSpec, ...]:
    first, *rest = _parts(case)
    axis = axis_of(case, len(first.shape))
    length = first.shape[axis] + sum(part.shape[axis] for part in rest)
    return (like(first, (*first.shape[:axis], length, *first.shape[axis + 1 :])),)


def _stack(case: Case) -> tuple[TensorSpec, ...]:
    parts = _parts(case)
    shape = parts[0].shape
    axis = axis_of(case, len(shape) + 1)
    return (like(parts[0], (*shape[:axis], len(parts), *shape[axis:])),)


def _split(case: Case) -> tuple[TensorSpec, ...]:
    data, sections = case.tensor("data"), whole(case, "sections")
    axis = axis_of(case, len(data.shape))
    length, left = divmod(data.shape[axis], sections)
    if left:
        raise InputError(f"`{case.operator}`: {data.shape[axis]} along axis {axis} is not {sections} equal parts")
    return (like(data, (*data.shape[:axis], length, *data.shape[axis + 1 :])),) * sections


def _several(count: int, shape: tuple[int, int]) -> Arguments:
    return {"data": ListOf((TensorSpec(shape),) * count), "axis": 0}


def _splits(count: int, shape: tuple[int, int]) -> Arguments:
    return {"data": TensorSpec((count * shape[0], shape[1])), "sections": count, "axis": 0}


def _move(
    name: str,
    summary: str,
    arguments: Callable[[int, tuple[int, int]], Arguments],
    outputs: Callable[[Case], tuple[TensorSpec, ...]],
    *aliases: str,
    aliasing: tuple[str, ...] = ("backward",),
) -> Operator:
    sizes = {size: arguments(*parts) for size, parts in PARTS.items()}
    return Operator(
        name, "join_split", summary, sizes, outputs, none, differentiable=("data",), aliasing=aliasing, aliases=aliases
    )


_JOIN_SPLIT = (
    _move("concatenate", "a list of tensors joined along an existing axis", _several, _concatenate, "cat", "concat"),
    _move("stack", "a list of tensors of one shape joined along a new axis", _several, _stack),
    _move(
        "split", "`sections` equal parts along an axis (views in some frameworks)", _splits, _split, aliasing=DIRECTIONS
    ),
)


OPERATORS = (*_SHAPE, *_JOIN_SPLIT, *conversion.OPERATORS)
