"""What several commands and functions decide by has one home: elsewhere its default is a name, not a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path

from tests.source import trees

import opperf
from opperf.parent.planning import request
from opperf.parent.sources import options, program_options
from opperf.parent.sources.option import declarations

ROOT = Path(opperf.__file__).parent
#: Parameters and fields, and the module that has their numbers.
HOME, DECIDING = Path("parent/documents/tolerances.py"), ("tolerance", "pairs", "threshold")
#: The rooms between a user and what is measured. A document has defaults of its own: what older files mean.
ROOMS = ("cli", "library", "commands", "measuring", "planning")


def defaults(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of functions and the fields of classes that have a default, each with that."""
    for node in ast.walk(module):
        if isinstance(node, ast.arguments):
            places = [*node.posonlyargs, *node.args]
            yield from zip((one.arg for one in places[len(places) - len(node.defaults) :]), node.defaults)
            yield from ((one.arg, value) for one, value in zip(node.kwonlyargs, node.kw_defaults) if value is not None)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def literals(path: Path, module: ast.Module) -> list[str]:
    """Return where such a default is written out."""
    return [
        f"{path}:{value.lineno}: {name}"
        for name, value in defaults(module)
        if name in DECIDING
        and isinstance(value, ast.Constant)
        and isinstance(value.value, (int, float, str))
        and value.value
    ]


def test_no_default_of_what_decides_is_written_out_twice() -> None:
    places = trees(ROOT, "parent")
    assert [line for path, module in places.items() if path != HOME for line in literals(path, module)] == []


def test_no_default_of_an_option_is_written_out_beside_its_declaration() -> None:
    modules = (options, program_options, request)
    classes = [(module, one) for module in modules for one in vars(module).values() if isinstance(one, type)]
    groups = [one for module, one in classes if one.__module__ == module.__name__ and is_dataclass(one)]
    declared = {(one.name, one.default) for group in groups for one in declarations(group) if is_literal(one.default)}
    lines = [
        f"{path}:{value.lineno}: {name}"
        for room in ROOMS
        for path, module in trees(ROOT, f"parent/{room}").items()
        for name, value in defaults(module)
        if isinstance(value, ast.Constant) and is_literal(value.value) and (name, value.value) in declared
    ]
    assert lines == []


def is_literal(value: object) -> bool:
    """Whether a default says something: nothing, no and an empty one are what is left out."""
    return isinstance(value, (int, float, str)) and value not in (0, 1, "")


def test_a_number_in_place_of_a_name_is_told_with_its_place() -> None:
    source = (
        "def f(x, tolerance=T, *, pairs=5): ...\nclass C:\n    threshold: float = 0.1\n    pairs: int | None = None\n"
    )
    assert literals(Path("a.py"), ast.parse(source)) == ["a.py:1: pairs", "a.py:3: threshold"]
