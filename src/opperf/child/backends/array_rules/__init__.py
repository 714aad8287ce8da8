"""Inputs of the functions that frameworks name as NumPy does, in the notation of `notation.py`, one file for each area.

A name is the path below NumPy's own module: `arccosh`, `linalg.cond`, `fft.irfft`. What is not here needs no more than
square matrices and what its arguments mean by their own names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.array_rules import counting, creation, elementwise, indexing, matrices, shapes, transforms
from opperf.child.backends.notation import Rule

RULES: Mapping[str, Rule] = {
    **elementwise.RULES,
    **shapes.RULES,
    **indexing.RULES,
    **counting.RULES,
    **transforms.RULES,
    **matrices.RULES,
    **creation.RULES,
}
#: Arguments that are no arrays.
ATTRIBUTES: Mapping[str, Any] = {
    "axis": 0,
    "source": 0,
    "destination": 1,
    "kth": 4,
    "q": 0.25,
    "N": lambda side: side,
    "M": lambda side: side * side,
    "beta": 14.0,
    "indices_or_sections": 2,
    "shape": lambda side: (side, side),
    "new_shape": lambda side: (2 * side, side),
    "dimensions": lambda side: (side, side),
}
