"""Cases of functions that a framework keeps no registry of: by a rule of their own, else by the names of arguments.

Functions that mirror NumPy's take arguments of the same names and meaning in every framework, so their rules stand in
`array_rules/`, and a framework adds what is its own. Where nothing is known of an argument, it is a square matrix. The
framework itself says, when a case runs, where this is not enough.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opperf.backends.notation import SIDES, Rule, attributes, inputs, tensor
from opperf.case import Argument, Case

#: Where nothing is known of an argument.
MATRIX = "n,n"


@dataclass(frozen=True)
class Rules:
    """What functions are given: by the name of the function, else by the names of the arguments that they need.

    `attributes` are the arguments that are no arrays, `arrays` those that are something else than `MATRIX`.
    """

    functions: Mapping[str, Rule]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, str] = field(default_factory=dict)

    def case(self, operator: str, name: str, function: Callable[..., Any], size: str) -> list[Case]:
        """Return the case of a function at a size; none for a size without rules.

        `name` is what its rule is found by, `operator` how the case is called.
        """
        if size not in SIDES:
            return []
        side = SIDES[size]
        if name in self.functions:
            text, given = self.functions[name]
            return [Case(operator, inputs(text, side), attributes(given, side))]
        needed = required(function)
        arrays: dict[str, Argument] = {
            own: tensor(self.arrays.get(own, MATRIX), side) for own in needed if own not in self.attributes
        }
        others = {own: self.attributes[own] for own in needed if own in self.attributes}
        return [Case(operator, arrays, attributes(others, side))]


def required(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments that a function does not do without; none where Python cannot tell.

    A ufunc says how many arrays it takes, and in most versions nothing else.
    """
    arrays = getattr(function, "nin", None)
    if isinstance(arrays, int):
        return ("x",) if arrays == 1 else tuple(f"x{i + 1}" for i in range(arrays))
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    spread = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return tuple(own.name for own in parameters if own.default is own.empty and own.kind not in spread)


def distinct(paths: Mapping[str, Callable[..., Any]]) -> list[str]:
    """Return one path for each function, by name: the first that ends in the function's own name, else the first."""
    chosen: dict[int, str] = {}
    for path, function in paths.items():
        held = chosen.get(id(function))
        if held is None or (_own(path, function) and not _own(held, function)):
            chosen[id(function)] = path
    return sorted(chosen.values())


def _own(path: str, function: Callable[..., Any]) -> bool:
    return path.rpartition(".")[2] == getattr(function, "__name__", None)
