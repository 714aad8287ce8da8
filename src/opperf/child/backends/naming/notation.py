"""How a rule writes the case of a registered operator: its arrays as text, and its attributes.

    "batch_dot": ("lhs: 4,n,n | rhs: 4,n,n", {}),
    "take": ("a: n,n | indices: n int32 0..8", {"axis": 0}),

A shape is written with `n`, the side of the size that is asked for, and `nn`, its square; `2n` is twice the side.
Behind it stand the element type, the bounds of the values and `ones`, `zeros` or `spd` (positive definite matrices),
each where it is not what tensors have by themselves; `fixed` keeps a gradient away. An attribute may be a function of
the side. What takes any number of arrays gets them numbered: `data0`, `data1`; what takes a list of them gets
`[n,n; n,n]`. An argument that is no array and has a place but no name stands among the arrays as `name = value`, or
in a list as `= value`, where a value may be an element type.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from opperf.domain.case import Argument, DType, ListOf
from opperf.domain.tensor import DISTRIBUTIONS, ITEM_SIZES, SPD, TensorSpec

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
    result = []
    for word in text.strip("()").split(","):
        match = _SIZE.fullmatch(word)
        if match is None:
            raise ValueError(f"no shape: {text!r}")
        if word:
            result.append(int(match[1] or 1) * side ** len(match[2]))
    return tuple(result)


def tensor(text: str, side: int) -> TensorSpec:
    """Read one tensor.

    >>> tensor("n int32 0..4", 8) == TensorSpec((8,), "int32", range=(0, 4))
    True
    """
    shape, *words = text.split()
    facts: dict[str, Any] = {}
    for word in words:
        if word in ITEM_SIZES:
            facts["dtype"] = word
        elif word in (*DISTRIBUTIONS, SPD):
            facts["values"] = word
        elif word == "fixed":
            facts["requires_grad"] = False
        else:
            low, high = word.split("..")
            facts["range"] = (float(low), float(high))
    return TensorSpec(sizes(shape, side), **facts)


def inputs(text: str, side: int) -> dict[str, Argument]:
    """Read the arrays of a rule, and what stands among them, by name.

    >>> inputs("axis = 1 | arrays: [2; n,n]", 8)["arrays"]
    ListOf(items=(TensorSpec(shape=(2,), ...), TensorSpec(shape=(8, 8), ...)))
    """
    arguments: dict[str, Argument] = {}
    for part in text.split("|"):
        name, colon, arrays = part.partition(":")
        if not colon:
            name, _, value = part.partition("=")
            arguments |= {name.strip(): constant(value.strip())} if value else {}
        elif arrays.strip().startswith("["):
            arguments[name.strip()] = ListOf(tuple(_item(one.strip(), side) for one in arrays.strip(" []").split(";")))
        else:
            arguments[name.strip()] = tensor(arrays, side)
    return arguments


def _item(text: str, side: int) -> Argument:
    return constant(text.removeprefix("=").strip()) if text.startswith("=") else tensor(text, side)


def constant(text: str) -> Argument:
    """Read a value: an element type by its name, else as Python writes it."""
    value: Argument = DType(text) if text in ITEM_SIZES else ast.literal_eval(text)
    return value


def attributes(values: Attributes, side: int) -> dict[str, Argument]:
    """Return the attributes of a rule; those that depend on the side at this one.

    >>> attributes({"axis": 0, "shape": lambda side: (side, side)}, 8)
    {'axis': 0, 'shape': (8, 8)}
    """
    return {name: value(side) if callable(value) else value for name, value in values.items()}


def alike(arrays: str, attributes: Attributes, *names: str) -> dict[str, Rule]:
    """Return one rule for several operators."""
    return dict.fromkeys(names, (arrays, attributes))
