"""What several families need: the outputs and counts that many operators have, and typed reading of attributes.

A case may come from a file, so an attribute is read with its expected kind, and a wrong one is an `InputError` that
names the operator and the attribute. Outputs are plain row-major tensors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from opperf.catalog.definition import Arguments, Formula, Outputs, broadcast, elements
from opperf.domain.case import Case, DType
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

#: One element-wise input per size class: launch cost, an activation of a model, 64 MB, and a tall thin table.
ELEMENTWISE = {"small": (32, 32), "common": (1024, 1024), "large": (4096, 4096), "skewed": (100_000, 10)}

_Shape = tuple[int, ...]


def check_lengths(case: Case, left: int, right: int, what: str = "elements") -> None:
    """Raise `InputError` where what a product goes along has two lengths."""
    if left != right:
        raise InputError(f"`{case.operator}` multiplies along {left} and {right} {what}, which must be equal")


def tensors(
    *roles: str,
    shapes: Mapping[str, _Shape] = ELEMENTWISE,
    dtype: str = "float32",
    range: tuple[float, float] | None = None,
    more: Arguments | None = None,
) -> dict[str, Arguments]:
    """Return the arguments of each size: tensors of one shape, by their roles, and `more` that all sizes share."""
    return {
        size: {**dict.fromkeys(roles, TensorSpec(shape, dtype, range=range)), **(more or {})}
        for size, shape in shapes.items()
    }


def indices(shape: _Shape, count: int) -> TensorSpec:
    """Return an index tensor with values in [0, count)."""
    return TensorSpec(shape, "int64", range=(0, count))


def same(role: str = "data") -> Outputs:
    """Return the outputs of an operator whose one result is like the input `role`."""

    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        return (like(case.tensor(role)),)

    return outputs


def like(tensor: TensorSpec, shape: _Shape | None = None, dtype: str | None = None) -> TensorSpec:
    """Return a row-major tensor like this one, of another shape or dtype where given."""
    return TensorSpec(tensor.shape if shape is None else shape, dtype or tensor.dtype)


def scalar(case: Case) -> tuple[TensorSpec, ...]:
    """Return a number of the type of `data`."""
    return (like(case.tensor("data"), ()),)


def row(case: Case) -> tuple[TensorSpec, ...]:
    """Return one of those that `data` has along its first dimension."""
    data = case.tensor("data")
    return (like(data, data.shape[1:]),)


def counted_rows(case: Case) -> tuple[TensorSpec, ...]:
    """Return as many rows like those of `data` as the attribute `count` says."""
    data = case.tensor("data")
    return (like(data, (whole(case, "count"), *data.shape[1:])),)


def linear(case: Case) -> tuple[TensorSpec, ...]:
    """Return the rows of `data`, each multiplied with the rows of `weight`."""
    data, weight = case.tensor("data"), case.tensor("weight")
    check_lengths(case, data.shape[-1], weight.shape[-1])
    return (like(data, (*data.shape[:-1], weight.shape[0])),)


def of_shape(case: Case) -> tuple[TensorSpec, ...]:
    """Return a tensor of the shape and the element type that attributes say."""
    return (TensorSpec(wholes(case, "shape"), element_type(case)),)


def each(operations: int = 1, role: str = "data") -> Formula:
    """Return the formula `operations` for each element of the input `role`."""
    return lambda case: operations * case.tensor(role).elements


def each_output(operations: int, outputs: Outputs) -> Formula:
    """Return the formula `operations` for each element of the outputs."""
    return lambda case: operations * elements(outputs(case))


def none(case: Case) -> int:
    """Return 0: moving data is no arithmetic."""
    return 0


def broadcast_outputs(dtype: str | None = None) -> Outputs:
    """Return the outputs of an element-wise operator of several tensors; its dtype is that of the first, or `dtype`."""

    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        tensors = tuple(case.tensors())
        return (like(tensors[0], broadcast(*(tensor.shape for tensor in tensors)), dtype),)

    return outputs


def whole(case: Case, name: str, default: int | None = None) -> int:
    """Return the whole number that is the attribute `name`."""
    value = case.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(case, name, "a whole number")
    return value


def wholes(case: Case, name: str, count: int | None = None, default: int | _Shape | None = None) -> _Shape:
    """Return the integers in the attribute `name`; with `count`, a single number is repeated."""
    value = case.get(name)
    value = default if value is None else value
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,) * (1 if count is None else count)
    items = value if isinstance(value, tuple) else (value,)
    integers = tuple(item for item in items if isinstance(item, int) and not isinstance(item, bool))
    if not isinstance(value, tuple) or len(integers) < len(value) or count not in (None, len(value)):
        raise _wrong(case, name, "whole numbers" if count is None else f"{count} whole numbers")
    return integers


def flag(case: Case, name: str, default: bool = False) -> bool:
    """Return the truth value that is the attribute `name`."""
    value = case.get(name, default)
    if not isinstance(value, bool):
        raise _wrong(case, name, "true or false")
    return value


def element_type(case: Case, name: str = "dtype") -> str:
    """Return the name of the dtype that is the attribute `name`."""
    value = case.get(name)
    if not isinstance(value, DType):
        raise _wrong(case, name, "a dtype")
    return value.name


def axis_of(case: Case, rank: int, name: str = "axis") -> int:
    """Return the axis that is the attribute `name`, counted from the front."""
    return _from_front(case, whole(case, name), rank, name)


def axes_of(case: Case, rank: int, name: str = "axis") -> _Shape:
    """Return the axes that are the attribute `name`, counted from the front; None means all of them."""
    if case.get(name) is None:
        return tuple(range(rank))
    return tuple(_from_front(case, axis, rank, name) for axis in wholes(case, name))


def _from_front(case: Case, axis: int, rank: int, name: str) -> int:
    if not -rank <= axis < rank:
        raise InputError(f"`{name}` of `{case.operator}` is {axis}, and the tensor has {rank} dimensions")
    return axis % rank


def reduce_shape(case: Case, shape: _Shape) -> _Shape:
    """Return the shape after a reduction over the attribute `axis`, with `keepdims` as given."""
    axes = axes_of(case, len(shape))
    if flag(case, "keepdims"):
        return tuple(1 if i in axes else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def windows(case: Case, sizes: _Shape, kernel: _Shape, stride: _Shape) -> _Shape:
    """Return how many positions a sliding window has along each size (`padding` on both ends, `dilation`)."""
    count = len(sizes)
    padding, dilation = wholes(case, "padding", count, 0), wholes(case, "dilation", count, 1)
    extents = tuple(
        (size + 2 * pad - spread * (width - 1) - 1) // step + 1
        for size, width, step, pad, spread in zip(sizes, kernel, stride, padding, dilation, strict=True)
    )
    if min(extents) < 1:
        raise InputError(
            f"the window {list(kernel)} of `{case.operator}` does not fit into {list(sizes)}",
            hint="a larger input, a smaller window or more padding",
        )
    return extents


def product(sizes: _Shape) -> int:
    """Return the product of the sizes; 1 for none."""
    return math.prod(sizes)


def _wrong(case: Case, name: str, expected: str) -> InputError:
    return InputError(f"`{name}` of `{case.operator}` is {case.get(name)!r}, expected {expected}", slug="bad_attribute")
