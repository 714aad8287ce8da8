"""Operands that are places in another operand: what these whole numbers stay below, so that each is within it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def limits(name: str, shapes: Sequence[Sequence[int]], parameters: Mapping[str, Any]) -> dict[int, int]:
    """Return the limit of each such operand of a primitive, by its number.

    >>> limits("dynamic_slice", [(8, 4), (), ()], {"slice_sizes": (2, 4)})
    {1: 7, 2: 1}
    """
    numbers = parameters.get("dimension_numbers")
    if name == "gather" and numbers is not None:
        return {1: _room(shapes[0], numbers.start_index_map, dict(enumerate(parameters["slice_sizes"])))}
    if name.startswith("scatter") and numbers is not None:
        dims = (*numbers.inserted_window_dims, *getattr(numbers, "operand_batching_dims", ()))
        whole = [place for place in range(len(shapes[0])) if place not in dims]
        windows = dict(zip(whole, (shapes[2][place] for place in numbers.update_window_dims)))
        return {1: _room(shapes[0], numbers.scatter_dims_to_operand_dims, windows)}
    if name in ("dynamic_slice", "dynamic_update_slice"):
        first, sizes = (1, parameters["slice_sizes"]) if name == "dynamic_slice" else (2, shapes[1])
        return {first + i: size - own + 1 for i, (size, own) in enumerate(zip(shapes[0], sizes))}
    return {0: len(shapes) - 1} if name == "select_n" else {}


def _room(shape: Sequence[int], places: Sequence[int], windows: Mapping[int, int]) -> int:
    """Return the least number of places that a window can have in some of an array's dimensions."""
    return min((shape[place] - windows.get(place, 1) + 1 for place in places), default=1)
