"""Sizes of windows, steps and padding, by space dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from opperf.child.backends.binding import Binding, functions

#: One number, or one for each space dimension.
Widths: TypeAlias = int | tuple[int, ...] | None


def spread(value: Widths, dimensions: int, default: int) -> tuple[int, ...]:
    """Return one number for each space dimension.

    >>> spread(None, 2, 1), spread(3, 2, 1)
    ((1, 1), (3, 3))
    """
    value = default if value is None else value
    return (value,) * dimensions if isinstance(value, int) else tuple(value)


def spread_argument(name: str, default: int) -> Callable[[Mapping[str, Any]], tuple[int, ...]]:
    """Return a function that makes an argument one number for each space dimension of the data."""
    return lambda arguments: spread(arguments.get(name), arguments["data"].ndim - 2, default)


def global_pools(place: str, data: str, mean: str = "mean", largest: str = "max") -> dict[str, Binding]:
    """Return the bindings of pooling over whole images, which is a reduction; `data` is its argument."""
    table = {
        (data, f"axis={axes}, keepdims=True"): f"global_avg_pool{space}d={mean} global_max_pool{space}d={largest}"
        for space, axes in ((1, 2), (2, (2, 3)), (3, (2, 3, 4)))
    }
    return functions(place, table)
