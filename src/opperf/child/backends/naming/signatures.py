"""Functions that a framework keeps no registry of, and cases of them: by a rule, else by the names of arguments.

Functions that mirror NumPy's take arguments of the same names and meaning in every framework, so their rules stand in
`array_rules/`, and a framework adds what is its own. Where nothing is known of an argument, it is a square matrix. The
framework itself says, when a case runs, where this is not enough.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from types import ModuleType
from typing import Any

from opperf.child.backends.naming.notation import SIDES, Rule, attributes, inputs, tensor
from opperf.child.backends.naming.paths import canonical
from opperf.domain.backend import Unsupported
from opperf.domain.case import Argument, Case
from opperf.domain.dataclass import dataclass

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
            text, values = self.functions[name]
            return [Case(operator, inputs(text, side), attributes(values, side))]
        names = required_arguments(function)
        arrays: dict[str, Argument] = {
            own: tensor(self.arrays.get(own, MATRIX), side) for own in names if own not in self.attributes
        }
        others = {own: self.attributes[own] for own in names if own in self.attributes}
        return [Case(operator, arrays, attributes(others, side))]


@dataclass(frozen=True)
class Functions:
    """The functions of a framework that can be named, and what is known of them.

    `names` are their paths; a function may have several. `roots` is what paths begin with as users write them, `areas`
    has rules by longer beginnings: what follows is the name that a rule stands under. `left_out` lists what computes
    nothing that could be timed, by reason, as paths below the framework, or below `root` where paths begin otherwise.
    """

    framework: str
    names: Sequence[str]
    resolve: Callable[[str], Callable[..., Any]]
    roots: Mapping[str, ModuleType]
    areas: Mapping[str, Rules]
    left_out: Mapping[str, Sequence[str]]
    root: str = ""

    @cached_property
    def reasons(self) -> Mapping[str, str]:
        """Why functions are left out, by path."""
        root = self.root or self.framework
        return {f"{root}.{name}": reason for reason, names in self.left_out.items() for name in names}

    @cached_property
    def computing(self) -> Mapping[str, Callable[..., Any]]:
        """Every function that computes, by path."""
        functions = {path: self.resolve(path) for path in self.names if path not in self.reasons}
        return {path: function for path, function in functions.items() if not isinstance(function, type)}

    def paths(self) -> list[str]:
        """Return one path of each function that computes, by name."""
        return distinct(self.computing)

    def examples(self, path: str, size: str) -> list[Case]:
        """Return the case of the function at a path; none where no rule makes one.

        Raises `Unsupported` for a function that is left out.
        """
        path = canonical(path, self.roots)
        if path in self.reasons:
            raise Unsupported(self.reasons[path], slug="no_inputs")
        if path not in self.computing:
            return []
        area = next(area for area in self.areas if path.startswith(area))
        name = path.removeprefix(area)
        return self.areas[area].case(f"{self.framework}:{path}", name, self.computing[path], size)


def required_arguments(function: Callable[..., Any]) -> tuple[str, ...]:
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
    by_id: dict[int, str] = {}
    for path, function in paths.items():
        other = by_id.get(id(function))
        if other is None or (_has_own_name(path, function) and not _has_own_name(other, function)):
            by_id[id(function)] = path
    return sorted(by_id.values())


def _has_own_name(path: str, function: Callable[..., Any]) -> bool:
    return path.rpartition(".")[2] == getattr(function, "__name__", None)
