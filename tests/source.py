"""What tests read of opperf's own code."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path


def trees(root: Path, folder: str = "", pattern: str = "*.py") -> dict[Path, ast.Module]:
    """Return the syntax tree of each module in a folder below `root`, by its place there."""
    collecting = gc.isenabled()
    gc.disable()  # it would look for what could be dropped of a million nodes, thrice as long as they take to make
    try:
        return {path.relative_to(root): ast.parse(path.read_bytes()) for path in sorted((root / folder).rglob(pattern))}
    finally:
        if collecting:
            gc.enable()


@cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    """Return all nodes of a tree, which is walked once for all tests that look at it."""
    return [*ast.walk(tree)]


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements below a node, whatever they are in, and look into no expression: most nodes are there."""
    parents = [tree]
    while parents:
        parts = [part for part in ast.iter_child_nodes(parents.pop()) if not isinstance(part, ast.expr)]
        yield from (part for part in parts if isinstance(part, ast.stmt))
        parents += parts
