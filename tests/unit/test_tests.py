"""What holds for every test: it asserts, or says why it cannot."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.source import statements, trees

TESTS = Path(__file__).parents[1]


def of_function(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a function, without those of functions and classes right inside it."""
    for statement in body:
        yield statement
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield from statements(statement)


def early(path: Path, tree: ast.Module) -> list[str]:
    """Return where tests of a file leave before their end."""
    return [
        f"{path}:{statement.lineno}"
        for test in statements(tree)
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
        for statement in of_function(test.body)
        if isinstance(statement, ast.Return)
    ]


def test_no_test_returns_where_it_should_skip() -> None:
    files = trees(TESTS, pattern="test_*.py")
    assert [place for path, tree in files.items() for place in early(path, tree)] == []


def test_no_unit_is_slow() -> None:
    # It starts nothing that takes long.
    assert [
        path for path in (TESTS / "unit").rglob("*.py") if "mark." + "slow" in path.read_text(encoding="utf-8")
    ] == []
