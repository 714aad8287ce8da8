"""Operators that join several tensors, or part one. Moving data is no arithmetic: zero operations."""

from __future__ import annotations

from collections.abc import Callable

from opperf.catalog.definition import DIRECTIONS, Arguments, Operator
from opperf.catalog.formulas import axis_of, like, none, whole
from opperf.domain.case import Case, ListOf
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

#: How many parts, and the shape of each; skewed is many small ones.
PARTS = {"small": (4, (16, 16)), "common": (4, (512, 512)), "large": (4, (2048, 2048)), "skewed": (100, (1000, 10))}


def _parts(case: Case) -> tuple[TensorSpec, ...]:
    found = tuple(case.tensors())
    if not found:
        raise InputError(f"`data` of `{case.operator}` holds no tensor")
    return found


def _concatenated(case: Case) -> tuple[TensorSpec, ...]:
    first, *rest = _parts(case)
    axis = axis_of(case, len(first.shape))
    length = first.shape[axis] + sum(part.shape[axis] for part in rest)
    return (like(first, (*first.shape[:axis], length, *first.shape[axis + 1 :])),)


def _stacked(case: Case) -> tuple[TensorSpec, ...]:
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


def _one(count: int, shape: tuple[int, int]) -> Arguments:
    return {"data": TensorSpec((count * shape[0], shape[1])), "sections": count, "axis": 0}


def _move(
    name: str,
    summary: str,
    arguments: Callable[[int, tuple[int, int]], Arguments],
    outputs: Callable[[Case], tuple[TensorSpec, ...]],
    *aliases: str,
    aliasing: tuple[str, ...] = ("backward",),
) -> Operator:
    return Operator(
        name=name,
        category="join_split",
        summary=summary,
        inputs=("data",),
        sizes={size: arguments(*parts) for size, parts in PARTS.items()},
        outputs=outputs,
        flops=none,
        differentiable=("data",),
        aliasing=aliasing,
        aliases=aliases,
    )


OPERATORS = (
    _move("concatenate", "a list of tensors joined along an axis they have", _several, _concatenated, "cat", "concat"),
    _move("stack", "a list of tensors of one shape joined along a new axis", _several, _stacked),
    _move(
        "split",
        "`sections` equal parts along an axis (views in some frameworks)",
        _one,
        _split,
        aliasing=DIRECTIONS,
    ),
)
