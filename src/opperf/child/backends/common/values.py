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

from opperf.domain.backend import HostValue

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
