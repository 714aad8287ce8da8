"""Code for values shared by backends: whether two calls returned the same, and what is kept of a captured array.

Kept are bounds, which values are drawn from again. Whole numbers keep their bounds, so that an index stays valid; so do
those that stand in floating types, as the indices of MXNet do. Of fractions their sign is kept: what is a probability
stays one, and equal calls stay equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from opperf.domain.backend import HostValue, Unsupported
from opperf.domain.tensor import row_major

#: How far two calls of one program may differ, relative and absolute.
RTOL, ATOL = 1e-3, 1e-5


def agree(left: Sequence[HostValue], right: Sequence[HostValue], close: Callable[[HostValue, HostValue], bool]) -> bool:
    """Return whether two lists of values agree; `close` judges two of one shape and dtype whose bits differ.

    >>> agree([(b"1", (1,), "int8")], [(b"2", (1,), "int8")], lambda one, other: True)
    True
    """
    return len(left) == len(right) and all(
        one == other or (one[1:] == other[1:] and close(one, other)) for one, other in zip(left, right)
    )


def constant(value: Any) -> object:
    """Return a key, equal for two values only where a program that knows one computes the same of the other.

    1 is no 1.0, and 0.0 no -0.0. Of what may change, as an array may, nothing is known.

    >>> constant(1) == constant(1), constant(1) == constant(True), constant([1]) == constant([1])
    (True, False, False)
    """
    try:
        hash(value)
    except TypeError:
        return object()
    return type(value), repr(value), value


def as_complex(host: Any, shape: Sequence[int], dtype: str) -> Any:
    """Return a NumPy array of numbers for a shape; of a complex type they may come as pairs of real ones."""
    if dtype.startswith("complex") and host.size == 2 * math.prod(shape):
        return host.view(f"complex{16 * host.itemsize}")
    return host


def refuse_strides(strides: Sequence[int] | None, shape: Sequence[int], tensors: str) -> None:
    """Refuse other strides than those of elements in a row, for `tensors` that have no others."""
    if strides is not None and tuple(strides) != row_major(shape):
        raise Unsupported(
            f"strides {list(strides)} were requested, but {tensors} are row-major",
            slug="no_strides",
            hint="leave out `strides`",
        )


def function_of(
    leaves: Sequence[Any], varies: Callable[[Any], bool], rebuild: Callable[[list[Any]], Any]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a call as a function of those of its values that vary, and these; `rebuild` calls with all values.

    >>> function, values = function_of([1, "a", 2], lambda leaf: isinstance(leaf, int), lambda leaves: leaves)
    >>> function(*values), function(3, 4)
    ([1, 'a', 2], [3, 'a', 4])
    """
    places = [i for i, leaf in enumerate(leaves) if varies(leaf)]
    static = [None if i in places else leaf for i, leaf in enumerate(leaves)]

    def call(*values: Any) -> Any:
        filled = list(static)
        for i, value in zip(places, values, strict=True):
            filled[i] = value
        return rebuild(filled)

    return call, tuple(leaves[i] for i in places)


def element_types(read: Callable[[str], Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the framework's element types of these names, without those that this release of it does not know.

    >>> element_types(lambda name: {"int8": 1}[name], ["int8", "float8_e4m3fn"])
    {'int8': 1}
    """
    types = {}
    for name in names:
        with suppress(TypeError, LookupError, ValueError):
            types[name] = read(name)
    return types


def bounds(values: Any) -> tuple[float, float] | None:
    """Return the bounds that stand for the elements of a NumPy array, the upper one left out; None for the default."""
    if not values.size or values.dtype.kind not in "iuf":
        return None
    low, high = float(values.min()), float(values.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    if values.dtype.kind != "f" or bool((values == values.round()).all()):
        return low, high + 1
    if low >= 0:
        return 0.0, 1.0
    return (-1.0, 0.0) if high <= 0 else None
