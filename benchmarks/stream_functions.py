"""Functions that go through memory, in pairs whose work differs by a known share; `streams.py` compares them.

Both sides of a pair have the same inputs; one of them goes over a part only.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import opperf
from opperf import TensorSpec

#: Arrays of 5.3 MB, three of which are as large as a share of a cache; the base leaves out an eleventh.
TRIAD = 660_000
TRIAD_OF_BASE = 600_000
#: Numbers that are picked at random, and those that they are picked from: 32 MB.
PICKED, PICKED_OF_BASE, ALL = 346_500, 330_000, 4_000_000
ARRAY = TensorSpec((TRIAD,), "float64")
TRIADS = {"common": {"b": ARRAY, "c": ARRAY}}
TAKES = {
    "common": {"values": TensorSpec((ALL,), "float64"), "places": TensorSpec((PICKED,), "int64", range=(0.0, ALL))}
}


@cache
def result(elements: int) -> Any:
    """Return memory for a result."""
    return np.empty(elements)


def triad_over(b: Any, c: Any, elements: int) -> Any:
    """Return `b + 3 c` over so many elements, the first of it."""
    a = result(elements)
    np.multiply(c[:elements], 3.0, out=a)
    np.add(a, b[:elements], out=a)
    return a[:1]


@opperf.operator(framework="numpy", sizes=TRIADS)
def triad(b: Any, c: Any) -> Any:
    """Stream three arrays."""
    return triad_over(b, c, TRIAD_OF_BASE)


@opperf.operator(framework="numpy", sizes=TRIADS)
def triad_of_more(b: Any, c: Any) -> Any:
    """Stream arrays of ten per cent more."""
    return triad_over(b, c, TRIAD)


@opperf.operator(framework="numpy", sizes=TAKES)
def take(values: Any, places: Any) -> Any:
    """Pick numbers at random."""
    return values.take(places[:PICKED_OF_BASE])[:1]


@opperf.operator(framework="numpy", sizes=TAKES)
def take_of_more(values: Any, places: Any) -> Any:
    """Pick five per cent more."""
    return values.take(places)[:1]
