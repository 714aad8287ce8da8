"""How a rule writes the case of a registered operator: its arrays as text, and its attributes.

    "batch_dot": ("lhs: 4,n,n | rhs: 4,n,n", {}),
    "take": ("a: n,n | indices: n int32 0..8", {"axis": 0}),

A shape is written with `n`, the side of the size that is asked for, and `nn`, its square; `2n` is twice the side.
Behind it stand the element type, the bounds of the values and `ones`, `zeros` or `spd` (positive definite matrices),
each where it is not what tensors have by themselves; `fixed` keeps a gradient away. An attribute may be a function of
the side. What takes any number of arrays gets them numbered: `data0`, `data1`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from opperf.tensor import DISTRIBUTIONS, ITEM_SIZES, SPD, TensorSpec

Attributes: TypeAlias = Mapping[str, Any]
Rule: TypeAlias = tuple[str, Attributes]

#: The side of a matrix at each size; 256 squared are 64 Ki elements.
SIDES = {"small": 8, "common": 256, "large": 1024}
_SIZE = re.compile(r"(\d*)(n{0,2})")


def sizes(text: str, side: int) -> tuple[int, ...]:
    """Read a shape.

    >>> sizes("2,n,nn,3n", 8), sizes("()", 8)
    ((2, 8, 64, 24), ())
    """
    found = []
    for word in text.strip("()").split(","):
        match = _SIZE.fullmatch(word)
        if match is None:
            raise ValueError(f"no shape: {text!r}")
        if word:
            found.append(int(match[1] or 1) * side ** len(match[2]))
    return tuple(found)


def tensor(text: str, side: int) -> TensorSpec:
    """Read one tensor.

    >>> tensor("n int32 0..4", 8)
    TensorSpec(shape=(8,), dtype='int32', strides=None, values='uniform', range=(0.0, 4.0), requires_grad=None)
    """
    shape, *words = text.split()
    found: dict[str, Any] = {}
    for word in words:
        if word in ITEM_SIZES:
            found["dtype"] = word
        elif word in (*DISTRIBUTIONS, SPD):
            found["values"] = word
        elif word == "fixed":
            found["requires_grad"] = False
        else:
            low, high = word.split("..")
            found["range"] = (float(low), float(high))
    return TensorSpec(sizes(shape, side), **found)


def tensors(text: str, side: int) -> dict[str, TensorSpec]:
    """Read the arrays of a rule by name."""
    parts = (part.partition(":") for part in text.split("|") if part.strip())
    return {name.strip(): tensor(rest.strip(), side) for name, _, rest in parts}


def alike(arrays: str, attributes: Attributes, *names: str) -> dict[str, Rule]:
    """Return one rule for several operators."""
    return dict.fromkeys(names, (arrays, attributes))
