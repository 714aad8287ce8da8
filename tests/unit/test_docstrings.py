"""Docstrings name what exists: a name in backticks is in the code, or belongs to others."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

import opperf

ROOT = Path(opperf.__file__).parent
#: A name in backticks that is one word of Python; examples of doctest show what they like.
NAME, EXAMPLE = (
    re.compile(r"(?<!`)`([A-Za-z_]\w*)`(?!`)"),
    re.compile(r"^ *>>>.*?(?=^ *$|\Z)", re.MULTILINE | re.DOTALL),
)
#: Names of other programs and documents, and of results, that the code has no word for.
FOREIGN = {
    "Gluon_Hybrid_",
    "Gluon_Imperative_",
    "If",
    "InitVar",
    "LogSumExp",
    "Logsumexp",
    "MX_Add_Forward_Backward_Time",
    "MX_Add_Forward_Time",
    "NAME_initializer",
    "PID_TIME",
    "Scan",
    "__array_function__",
    "__ynn_fusion",
    "cProfile",
    "int_range",
    "io_uring",
    "kLoop",
    "key_averages",
    "lhs_initializer",
    "memory_peak_B",
    "pthread_self",
    "redirect_stdout",
    "resize_",
    "scancel",
    "setup_cache",
    "t_",
    "time_median_s",
    "timeit",
}


def docstrings(module: ast.Module) -> Iterator[ast.Constant]:
    """Yield the docstrings of a module, its classes and its functions."""
    for node in ast.walk(module):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield first.value


def words(module: ast.Module) -> Iterator[str]:
    """Yield every name of the code, and every word of its texts but for docstrings."""
    documentation = {id(text) for text in docstrings(module)}
    for node in ast.walk(module):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield from re.findall(r"\w+", f"{name} {other or ''}")
            case ast.Constant(value=str(text)) if id(node) not in documentation:
                yield from re.findall(r"\w+", text)


def unknown_names(modules: dict[Path, ast.Module]) -> list[str]:
    """Return where docstrings name what no code has."""
    known = {word for module in modules.values() for word in words(module)} | set(dir(builtins)) | FOREIGN
    known |= {part for path in modules for part in (*path.with_suffix("").parts, path.name)}
    return [
        f"{path}:{text.lineno}: {name}"
        for path, module in modules.items()
        for text in docstrings(module)
        for name in NAME.findall(EXAMPLE.sub("", str(text.value)))
        if name not in known
    ]


def test_names_in_backticks_of_docstrings_exist() -> None:
    modules = {path.relative_to(ROOT): ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}
    assert unknown_names(modules) == []


def test_a_docstring_that_names_what_is_gone_is_told_with_its_place() -> None:
    source = 'def f(x):\n    """Return what `g` makes of `x`, see `h`.\n\n    >>> f(1)\n    `i`\n    """\n\n\ng = "h"\n'
    assert unknown_names({Path("a.py"): ast.parse(source)}) == []
    assert unknown_names({Path("a.py"): ast.parse(source.replace("g = ", "z = "))}) == ["a.py:2: g"]
