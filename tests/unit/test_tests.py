"""What holds for every test: it asserts, or says why it cannot."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a function, without those of functions and classes inside it."""
    for statement in body:
        yield statement
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for part in ast.walk(statement):
                if part is not statement and isinstance(part, ast.stmt):
                    yield part


def early(path: Path) -> list[str]:
    """Return where tests of a file leave before their end."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(TESTS)}:{statement.lineno}"
        for test in ast.walk(tree)
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
        for statement in statements(test.body)
        if isinstance(statement, ast.Return)
    ]


def test_no_test_returns_where_it_should_skip() -> None:
    assert [place for path in sorted(TESTS.rglob("test_*.py")) for place in early(path)] == []


def test_no_unit_is_slow() -> None:
    # `make test-all` does not look for slow tests here.
    assert [
        path for path in (TESTS / "unit").rglob("*.py") if "mark." + "slow" in path.read_text(encoding="utf-8")
    ] == []
