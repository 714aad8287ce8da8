"""Whether two implementations of one operator compute the same: their results, element by element."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opperf.backend import Backend

#: How far results may differ, as a share of the largest element: what sums in another order, or half-precision
#: products, differ by. Whole numbers must be equal.
TOLERANCES = {
    "float16": 1e-2, "bfloat16": 2e-2, "float32": 1e-4, "float64": 1e-8, "complex64": 1e-4, "complex128": 1e-8,
}  # fmt: skip
#: How `struct` reads an element; complex ones are read as two, bfloat16 as the upper half of a float32.
LETTERS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "int32": "i", "int64": "q", "float16": "e", "float32": "f",
    "float64": "d", "complex64": "f", "complex128": "d",
}  # fmt: skip


class WrongResult(Exception):
    """An implementation does not compute what it is said to."""


def check(backend: Backend, found: Any, expected: Any, against: str) -> None:
    """Raise `WrongResult` where results differ; `against` says whose the expected one is."""
    ours, theirs = backend.leaves(found), backend.leaves(expected)
    if len(ours) != len(theirs):
        raise WrongResult(f"it returns {len(ours)} tensors, and {against} returns {len(theirs)}")
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        _same(backend.to_host(mine), backend.to_host(other), f"tensor {place}", against)


def _same(mine: tuple[bytes, Any, str], other: tuple[bytes, Any, str], name: str, against: str) -> None:
    if tuple(mine[1]) != tuple(other[1]):
        raise WrongResult(f"{name} has the shape {list(mine[1])}, and {list(other[1])} of {against}")
    values, wanted = list(_values(mine[0], mine[2])), list(_values(other[0], other[2]))
    tolerance = max(TOLERANCES.get(dtype, 0.0) for dtype in (mine[2], other[2]))
    scale = max((abs(value) for value in wanted if math.isfinite(value)), default=0.0)
    for place, (ours, theirs) in enumerate(zip(values, wanted)):
        if not (ours == theirs or (ours != ours and theirs != theirs) or abs(ours - theirs) <= tolerance * scale):
            raise WrongResult(f"element {place} of {name} is {ours:.6g}, and {theirs:.6g} of {against}")


def _values(raw: bytes, dtype: str) -> Iterator[float]:
    if dtype == "bfloat16":
        raw, dtype = b"".join(b"\0\0" + raw[i : i + 2] for i in range(0, len(raw), 2)), "float32"
    letter = LETTERS[dtype]
    return (float(value) for (value,) in struct.iter_unpack(f"<{letter}", raw))
