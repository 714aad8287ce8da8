"""Names say what a thing is or does: a participle that says how it was come by is no name, and neither is a pronoun.

And docstrings name what exists: a name in backticks is in the code, or belongs to others.
"""

from __future__ import annotations

import ast
import builtins
import gc
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

import pytest
from tests.source import nodes, trees

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


#: Words that stand for a noun: they name a variable of three lines at most, where the noun is still in sight.
PRONOUNS = frozenset(("one", "several", "whole", "own", "other"))
#: The lines between the first use of such a variable and its last.
MOST_LINES = 2
#: Variables named by a pronoun that live longer, by room. There are none, and no room joins.
LONG_PRONOUNS: dict[str, int] = {}
#: Docstrings that begin with "Return what", which is a noun not looked for. The same holds for them.
RETURN_WHAT: dict[str, int] = {}
#: How much lower the counts of all rooms may be before the numbers above have to follow.
SLACK = 25

#: The nodes that name something, each with the field that has the name.
NAMING = {
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.arg: "arg",
    ast.keyword: "arg",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
}
#: What gives names a place of their own.
SCOPES = (
    ast.ClassDef,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Module,
)

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


def names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every identifier of a module with its line; of what is imported, the name in this module."""
    for node in nodes(tree):
        name = getattr(node, NAMING.get(type(node), ""), None)
        if isinstance(node, ast.alias):
            name = node.asname or node.name.rpartition(".")[2]
        if name:
            yield name, getattr(node, "lineno", 0)


def pronouns(node: ast.AST, scopes: tuple[ast.AST, ...] = ()) -> Iterator[tuple[str, int, bool, tuple[ast.AST, ...]]]:
    """Yield each variable that is a pronoun: its name, its line, whether it is bound there, the scopes around it."""
    scopes = (*scopes, node) if isinstance(node, SCOPES) else scopes
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Name(id=name) if name in PRONOUNS:
                yield name, child.lineno, isinstance(child.ctx, ast.Store), scopes
            case ast.arg(arg=name) if name in PRONOUNS:
                yield name, child.lineno, True, scopes
        yield from pronouns(child, scopes)


def long_pronouns(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield variables named by a pronoun that live longer than such a name is understood, with their first line."""
    uses = [*pronouns(module)]
    bound = {(scopes[-1], name) for name, _, is_bound, scopes in uses if is_bound}
    lines: dict[tuple[ast.AST, str], list[int]] = {}
    for name, line, _, scopes in uses:
        for home in [scope for scope in scopes if (scope, name) in bound][-1:]:  # what is imported has none
            lines.setdefault((home, name), []).append(line)
    for (scope, name), places in lines.items():
        if max(places) - min(places) > MOST_LINES and not isinstance(scope, ast.ClassDef):
            yield name, min(places)


def return_what(module: ast.Module) -> Iterator[int]:
    """Yield the lines of functions and classes whose docstring begins with "Return what"."""
    for node in nodes(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (ast.get_docstring(node) or "").startswith(
            "Return what"
        ):
            yield node.lineno


def docstrings(module: ast.Module) -> Iterator[ast.Constant]:
    """Yield the docstrings of a module, its classes and its functions."""
    for node in nodes(module):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield first.value


def unknown_names(modules: Mapping[Path, ast.Module]) -> list[str]:
    """Return where docstrings name what no code has: no name of it, nor a word of its texts.

    Words that a rename has taken out of many modules are in the module itself, or values: another may still have them.
    """
    documentation = {path: [*docstrings(module)] for path, module in modules.items()}
    known = {name for module in modules.values() for name, _ in names(module)} | set(dir(builtins)) | FOREIGN
    known |= {part for path in modules for part in (*path.with_suffix("").parts, path.name)}
    others = {id(text) for texts in documentation.values() for text in texts}
    texts = {path: [*_texts(module, others)] for path, module in modules.items()}
    words = {path: {*re.findall(r"\w+", "\n".join(texts[path]))} for path in modules}
    known.update(*words.values())
    values = {text for texts_of_module in texts.values() for text in texts_of_module}

    def is_known(name: str, path: Path) -> bool:
        if name in RETIRED | PRONOUNS:
            return name in values | words[path] or name in (own for own, _ in names(modules[path]))
        return name in known

    return [
        f"{path}:{text.lineno}: {name}"
        for path, texts_of_module in documentation.items()
        for text in texts_of_module
        for name in NAME.findall(EXAMPLE.sub("", str(text.value)))
        if not is_known(name, path)
    ]


def _texts(module: ast.Module, documentation: Container[int]) -> Iterator[str]:
    """Yield the texts of a module that are no documentation, and the modules that it imports."""
    for node in nodes(module):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in documentation:
                yield node.value
        elif isinstance(node, ast.alias):
            yield node.name


def check_rooms(places: Mapping[Path, list[str]], most: Mapping[str, int]) -> None:
    """Check that no room has more of something than it may, and that the numbers follow where it has less."""
    rooms: dict[str, list[str]] = {}
    for path, lines in places.items():
        rooms.setdefault("/".join(path.parts[:2]), []).extend(f"{path}:{line}" for line in lines)
    more = [line for room, lines in rooms.items() if len(lines) > most.get(room, 0) for line in lines]
    now = Counter({room: len(lines) for room, lines in rooms.items() if lines})
    assert not more, "\n".join(more)
    assert sum(most.values()) - now.total() <= SLACK, f"lower the numbers to {dict(sorted(now.items()))}"


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[Path, ast.Module]]:
    """Every module by its place; what looks for objects that can be dropped leaves them alone."""
    modules = trees(ROOT)
    gc.freeze()
    yield modules
    nodes.cache_clear()


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


def test_no_room_has_more_variables_that_are_named_by_a_pronoun(modules: dict[Path, ast.Module]) -> None:
    places = {path: [f"{line}: {name}" for name, line in long_pronouns(module)] for path, module in modules.items()}
    check_rooms(places, LONG_PRONOUNS)


def test_no_room_has_more_docstrings_that_return_what(modules: dict[Path, ast.Module]) -> None:
    check_rooms({path: [f"{line}" for line in return_what(module)] for path, module in modules.items()}, RETURN_WHAT)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(one):\n\n\n  return one\n", ["one"]),
        ("def f(one):\n\n  return one\n", []),
        ("def f():\n  own = 1\n\n  def g():\n    return own\n", ["own"]),
        ("def f():\n  a = [one for one in b]\n\n\n  c = [one for one in d]\n", []),
        ("a = [\n  g(one)\n\n\n  for one in b\n]\n", ["one"]),
        ("def f(other):\n  class G:\n    other: int\n\n\n  return g(other=1)\n", []),
    ],
)
def test_a_pronoun_is_a_name_of_three_lines_at_most(source: str, names: list[str]) -> None:
    assert [name for name, _ in long_pronouns(ast.parse(source))] == names


def test_a_room_never_gets_worse_and_its_number_follows_where_it_gets_better() -> None:
    check_rooms({Path("a/b/c.py"): ["1", "2"]}, {"a/b": 2})
    with pytest.raises(AssertionError, match=r"a/b/c\.py:3"):
        check_rooms({Path("a/b/c.py"): ["3"]}, {})
    with pytest.raises(AssertionError, match=r"lower the numbers to \{'a/b': 1\}"):
        check_rooms({Path("a/b/c.py"): ["3"]}, {"a/b": SLACK + 2})


def test_names_in_backticks_of_docstrings_exist(modules: dict[Path, ast.Module]) -> None:
    assert unknown_names(modules) == []


def test_a_docstring_that_names_what_is_gone_is_told_with_its_place() -> None:
    source = 'def f(x):\n    """Return what `g` makes of `x`, see `h`.\n\n    >>> f(1)\n    `i`\n    """\n\n\ng = "h"\n'
    assert unknown_names({Path("a.py"): ast.parse(source)}) == []
    assert unknown_names({Path("a.py"): ast.parse(source.replace("g = ", "z = "))}) == ["a.py:2: g"]
    renamed = ast.parse('def f(x):\n    """Return `own`."""\n')
    assert unknown_names({Path("a.py"): renamed, Path("b.py"): ast.parse("own = 1")}) == ["a.py:2: own"]


def test_no_module_is_named_by_a_participle() -> None:
    endings = (*RETIRED, "ed")
    assert [str(path.relative_to(ROOT)) for path in sorted(ROOT.rglob("*.py")) if path.stem.endswith(endings)] == []


def test_the_walk_finds_every_kind_of_identifier() -> None:
    source = "import a.b as c\ndef d(e, *f):\n  g.h = i(j=k)\nclass l:\n  pass\ntry: pass\nexcept m as n: pass\n"
    assert {name for name, _ in names(ast.parse(source)) if name} == set("cdefghijklmn")
