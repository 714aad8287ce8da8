"""Products of matrices by their sizes, as TritonBench lists them: `{'M': '64', 'N': '32', 'K': '16', 'dtype': 'bf16'}`.

`strides` is a list of those of each matrix in the order of the operator's arguments, as text too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from opperf.domain.case import Argument, DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import show
from opperf.domain.tensor import TensorSpec, parse_dtype, row_major
from opperf.parent.sources.case_lists.call_text import CallText, read_call

#: The sizes of each argument, by the letters of sizes; `B` is how many matrices are in a batch.
PRODUCTS: Mapping[str, tuple[str, ...]] = {
    "mm": ("MK", "KN"),
    "addmm": ("MN", "MK", "KN"),
    "bmm": ("BMK", "BKN"),
    "baddbmm": ("BMN", "BMK", "BKN"),
}
LARGEST = 10**7


def has_sizes(call: CallText) -> bool:
    """Whether arguments are the sizes of matrices rather than matrices."""
    return not call.places and {"M", "N", "K"} <= set(call.names)


def matrices(name: str, call: CallText) -> tuple[str, CallText]:
    """Return the operator and its arguments; raises `InputError` for sizes that are none, and other operators."""
    letters = PRODUCTS.get(name.removeprefix("aten."))
    if letters is None:
        raise InputError(f"`{name}` by sizes of matrices, expected one of {', '.join(PRODUCTS)}")
    unknown = sorted(set(call.names) - {*"BMNK", "dtype", "strides"})
    if unknown:
        return f"aten::{name}.default", replace(call, reasons=(f"`{unknown[0]}` of a product",))
    element = call.names.get("dtype", "float32")
    dtype = element.name if isinstance(element, DType) else parse_dtype(str(element))
    shapes = [tuple(_size(letter, call.names) for letter in one) for one in letters]
    strides = _strides(call.names.get("strides"), shapes)
    places: dict[str, Argument] = {
        str(place): TensorSpec(shape, dtype, steps) for place, (shape, steps) in enumerate(zip(shapes, strides))
    }
    return f"aten::{name.removeprefix('aten.')}.default", CallText(places, {})


def _size(letter: str, names: Mapping[str, Argument]) -> int:
    text = str(names.get(letter))
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < LARGEST):
        raise InputError(f"`{letter}` is {show(text)}, expected a size below {LARGEST:,}")
    return int(text)


def _strides(text: Argument, shapes: list[tuple[int, ...]]) -> list[tuple[int, ...] | None]:
    """Return the strides of each matrix; raises `InputError` for a text that has not so many."""
    if text is None:
        return [None] * len(shapes)
    value = read_call(f"(({text},), {{}})").places["0"]
    items = value.items if isinstance(value, ListOf) else ()
    steps = [tuple(one.items) for one in items if isinstance(one, ListOf)]
    if [len(one) for one in steps] != [len(shape) for shape in shapes]:
        raise InputError(f"`strides` is {show(str(text))}, expected those of {len(shapes)} matrices")
    # A tensor refuses strides that are no whole numbers.
    return [None if one == row_major(shape) else cast("tuple[int, ...]", one) for one, shape in zip(steps, shapes)]
