"""From one argument of a config to the argument of a case.

Where a config says nothing of a tensor's values they are as PARAM draws them: real numbers from 0 to 1, whole ones from
-10 to 9, a single value from -10 to 10. A `value_range` of a number is drawn here, from the seed and the place of the
argument, so that one seed gives one case.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from opperf.domain.case import Argument, Device, DType, ListOf
from opperf.domain.registry import device_named
from opperf.domain.tensor import TensorSpec, dtype_named

REALS, WHOLES, UNSIGNED, SINGLE = (0.0, 1.0), (-10.0, 10.0), (0.0, 10.0), (-10.0, 10.0)
#: Distributions that lie within bounds; the others have bounds of their own unless they are told.
BOUNDED = ("uniform", "constant", "sorted", "reversed")


def argument(spec: Mapping[str, Any], seed: str) -> Argument:
    """Return the argument that a checked part of a config describes."""
    kind = spec["type"]
    if kind == "tensor":
        return _tensor(spec)
    if kind == "none":
        return None
    if kind in ("genericlist", "tuple"):
        items = tuple(argument(inner, f"{seed}[{i}]") for i, inner in enumerate(spec["value"]))
        return ListOf(items) if kind == "genericlist" else items
    if "value_range" in spec:
        return _draw(spec["value_range"], kind, seed)
    value: Any = spec.get("value", "")  # only a string may leave it out
    if kind == "device":
        return Device(device_named(value))
    if kind == "dtype":
        return DType(dtype_named(value))
    return float(value) if kind in ("float", "double") else value


def _draw(bounds: Sequence[float], kind: str, seed: str) -> float:
    generator = random.Random(seed)
    low, high = bounds
    return generator.randint(int(low), int(high)) if kind in ("int", "long") else generator.uniform(low, high)


def _tensor(spec: Mapping[str, Any]) -> TensorSpec:
    shape, dtype = tuple(spec["shape"]), dtype_named(spec["dtype"])
    distribution = spec.get("values", "uniform")
    plain = TensorSpec(shape, dtype)
    bounds = spec.get("value_range")
    if bounds is not None:
        # A range of whole numbers has both its ends; the tensor's leaves the upper one out.
        low, high = bounds
        bounds = (float(low), float(high)) if plain.is_float else (float(math.ceil(low)), float(math.floor(high) + 1))
    elif distribution.startswith(BOUNDED) or distribution.startswith("sparse"):
        bounds = _usual(plain)
    return TensorSpec(
        shape,
        dtype,
        strides=tuple(spec["strides"]) if "strides" in spec else _strides(shape, spec.get("memory_format")),
        values=distribution,
        range=None if dtype == "bool" else bounds,
        requires_grad=False if spec.get("requires_grad") is False else None,
    )


def _usual(tensor: TensorSpec) -> tuple[float, float]:
    if not tensor.is_float:
        return UNSIGNED if tensor.dtype.startswith("u") else WHOLES
    return REALS if tensor.shape else SINGLE


def _strides(shape: Sequence[int], memory_format: str | None) -> tuple[int, ...] | None:
    """Return the strides of a memory format: channels, the second dimension, lie next to each other."""
    if memory_format in (None, "contiguous_format"):
        return None
    order = [0, *range(2, len(shape)), 1]
    strides, step = [0] * len(shape), 1
    for place in reversed(order):
        strides[place], step = step, step * max(1, shape[place])
    return tuple(strides)
