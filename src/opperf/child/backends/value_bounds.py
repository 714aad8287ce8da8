"""What is kept of the values of an array that was seen: bounds that values are drawn from again.

Whole numbers keep their bounds, so that an index stays valid; so do those that stand in floating types, as the indices
of MXNet do. Of fractions their sign is kept: what is a probability stays one, and equal calls stay equal.
"""

from __future__ import annotations

import math
from typing import Any


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
