"""Names say what a thing is or does: a participle that says how it was come by is no name."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import opperf

ROOT = Path(opperf.__file__).parent

#: Identifiers that stood for many different things each, and stand for none any more.
RETIRED = frozenset(
    (
        "asked",
        "begun",
        "chosen",
        "drawn",
        "found",
        "gone",
        "given",
        "held",
        "kept",
        "lacking",
        "listed",
        "known",
        "lumped",
        "made",
        "named",
        "packed",
        "padded",
        "parted",
        "picked",
        "reached",
        "said",
        "seen",
        "settled",
        "shown",
        "stood",
        "taken",
        "told",
        "typed",
        "wanted",
    )
)

#: Words that say where or whose, and of a function on its own not what it does or returns.
LOOSE = frozenset(
    (
        "above",
        "after",
        "ahead",
        "all",
        "apart",
        "around",
        "at",
        "before",
        "below",
        "beside",
        "between",
        "by",
        "elsewhere",
        "every",
        "from",
        "here",
        "in",
        "of",
        "off",
        "on",
        "one",
        "other",
        "out",
        "over",
        "own",
        "some",
        "there",
        "to",
        "up",
        "what",
        "where",
        "with",
        "within",
        "without",
    )
)


def names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every identifier of a module with its line; of what is imported, the name in this module."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name, line
            case ast.keyword(arg=str(name)) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, line
            case ast.alias(name=name, asname=other):
                yield other or name.rpartition(".")[2], line
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, line


@pytest.fixture(scope="module")
def modules() -> dict[Path, ast.Module]:
    """Every module by its place."""
    return {path.relative_to(ROOT): ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}


def test_no_identifier_is_a_retired_word(modules: dict[Path, ast.Module]) -> None:
    lines = [
        f"{place}:{line}: {name}"
        for place, module in modules.items()
        for name, line in names(module)
        if name.strip("_") in RETIRED
    ]
    assert not lines, "\n".join(lines)


def test_no_function_of_a_module_is_a_preposition_or_a_pronoun(modules: dict[Path, ast.Module]) -> None:
    functions = [
        f"{place}:{node.lineno}: {node.name}"
        for place, module in modules.items()
        for node in module.body
        if isinstance(node, ast.FunctionDef) and node.name.strip("_") in LOOSE
    ]
    assert not functions, "\n".join(functions)


def test_no_module_is_named_by_a_participle() -> None:
    endings = (*RETIRED, "ed")
    assert [str(path.relative_to(ROOT)) for path in sorted(ROOT.rglob("*.py")) if path.stem.endswith(endings)] == []


def test_the_walk_finds_every_kind_of_identifier() -> None:
    source = "import a.b as c\ndef d(e, *f):\n  g.h = i(j=k)\nclass l:\n  pass\ntry: pass\nexcept m as n: pass\n"
    assert {name for name, _ in names(ast.parse(source)) if name} == set("cdefghijklmn")
