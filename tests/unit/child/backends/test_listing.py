"""Folders that run parallel: every backend answers for every family, in a file of the same name."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy
import pytest
from tests.each import check_each, each

import opperf
from opperf.catalog import FAMILIES
from opperf.child.backends.arrays import compositions, fusions, normalization, operators, recurrent, serving, windows
from opperf.child.backends.arrays.activations import activations
from opperf.child.backends.arrays.updates import MADE_OF
from opperf.child.backends.binding import rows
from opperf.domain.registry import FRAMEWORKS, REAL_FRAMEWORKS

PACKAGE = Path(opperf.__file__).parent
#: Files of `catalog/` that declare no operators.
NO_OPERATORS = {"__init__", "definition", "domain", "domain_table", "extent", "formulas", "groups", "valid_values"}

#: What writes down bindings for several backends, by name.
SHARED = {
    name: value
    for module in (fusions, normalization, operators, recurrent, serving, windows, compositions)
    for name, value in vars(module).items()
}


class Part(str):
    """Stands for whatever such a function takes: a library, a text, or, having two letters, a function and a note."""

    def __getattr__(self, name: str) -> Part:
        return self


PART = Part("fn")


def modules(folder: Path) -> set[str]:
    """Return the names of the modules in a folder."""
    return {path.stem for path in folder.glob("*.py")}


def names(module: str) -> set[str]:
    """Return the operators that a file of the catalog declares."""
    return {operator.name for operator in import_module(f"opperf.catalog.{module}").OPERATORS}


def test_every_file_of_the_catalog_is_a_family_or_taken_in_by_one() -> None:
    declared = modules(PACKAGE / "catalog") - NO_OPERATORS
    assert set(FAMILIES) <= declared
    operators = {name: names(name) for name in declared}
    for part in declared - set(FAMILIES):
        assert sum(operators[part] <= operators[family] for family in FAMILIES) == 1, f"no family takes in `{part}`"


def test_every_framework_has_a_backend_and_every_backend_a_framework() -> None:
    folders = {path.parent.name for path in (PACKAGE / "child" / "backends").glob("*/runtime.py")}
    assert folders == {name.partition(":")[0] for name in FRAMEWORKS}


@each("framework", FRAMEWORKS)
def test_a_backend_says_what_starts_it(framework: str) -> None:
    assert {"__init__", "runtime"} <= modules(PACKAGE / "child" / "backends" / framework.partition(":")[0])


@pytest.mark.parametrize("framework", REAL_FRAMEWORKS)
def test_a_backend_has_a_file_for_each_family(framework: str) -> None:
    assert modules(PACKAGE / "child" / "backends" / framework / "operators") - {"__init__"} == set(FAMILIES)


def keys(table: ast.expr, space: dict[str, ast.expr]) -> set[str]:
    """Return the keys of a table that is written as a dictionary; comprehensions run over a table that `space` has."""
    if isinstance(table, ast.Name):
        return keys(space[table.id], space)
    if isinstance(table, ast.Dict):
        pairs = zip(table.keys, table.values)
        return set().union(*(keys(value, space) if key is None else {ast.literal_eval(key)} for key, value in pairs))
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id == "functions":
        assert isinstance(table.args[1], ast.Dict)
        words = {("", str(i)): ast.literal_eval(value) for i, value in enumerate(table.args[1].values)}
        return {row.operator for row in rows(words)}
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id == "annotate":
        return keys(table.args[1], space)
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute) and table.func.attr == "bindings":
        return set(MADE_OF)
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id == "gaps":
        return set(ast.literal_eval(table.args[1]).split())
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id == "compositions":
        return {str(keyword.arg) for keyword in table.keywords if not isinstance(keyword.value, ast.Constant)}
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id == "bindings":
        return set(activations(None))  # a row is a function, and calls none of the library's before it is called
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id in SHARED:
        names = {str(keyword.arg): PART for keyword in table.keywords}
        return set(SHARED[table.func.id](*(PART for _ in table.args), **names))  # as above
    if isinstance(table, ast.DictComp) and len(table.generators) == 1:
        source = table.generators[0].iter
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr == "items":
            source = source.func.value
        source = space[source.id] if isinstance(source, ast.Name) else source
        if isinstance(source, ast.Dict):
            return keys(source, space)
        if isinstance(source, (ast.Tuple, ast.List)):
            return {key_of(table.key, item) for item in source.elts}
    raise AssertionError(f"BINDINGS is written in a way that this test does not read: {ast.unparse(table)[:200]}")


def key_of(key: ast.expr, item: ast.expr) -> str:
    """Return the key that a comprehension makes of one item: the first word of it, perhaps in a longer name."""
    first = item.elts[0] if isinstance(item, ast.Tuple) else item
    word = first.id if isinstance(first, ast.Name) else str(ast.literal_eval(first))
    if isinstance(key, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else word for part in key.values)
    return word


@cache
def tables(file: Path) -> dict[str, ast.expr]:
    """Return what has a name in a file of a backend, what it imports from another one too."""
    result: dict[str, ast.expr] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            result[node.target.id] = node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            result[node.targets[0].id] = node.value
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("opperf.child.backends."):
            source = PACKAGE.parent / f"{str(node.module).replace('.', '/')}.py"
            there = tables(source) if source.exists() else {}
            result |= {alias.name: there[alias.name] for alias in node.names if alias.name in there}
    return result


def bindings(file: Path) -> set[str]:
    """Return the operators that a file of bindings answers for, without importing its framework."""
    space = tables(file)
    return keys(space["BINDINGS"], space)


@pytest.mark.parametrize("framework", REAL_FRAMEWORKS)
def test_a_backend_binds_operators_in_the_file_of_their_family(framework: str) -> None:
    def check(family: str) -> None:
        declared = names(family)
        bound = bindings(PACKAGE / "child" / "backends" / framework / "operators" / f"{family}.py")
        assert bound <= declared
        assert framework != "numpy" or declared - bound <= set(vars(numpy)), "neither a row nor a function of that name"

    check_each(FAMILIES, check)
