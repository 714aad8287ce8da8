"""`opperf operators`: what can be measured."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.catalog import catalog
from opperf.catalog.groups import GROUPS, check_categories
from opperf.domain.errors import InputError, unknown
from opperf.domain.registry import split_implementation
from opperf.parent.cli import completion, options
from opperf.parent.cli.screen import show
from opperf.parent.reports.cells import markdown
from opperf.parent.reports.layout import Grid, Heading

if TYPE_CHECKING:
    from opperf.catalog import Operator

FORMATS = ("console", "md")
#: How columns behave in a narrow terminal; those of frameworks are not among them.
HEADINGS = {
    "operator": Heading("operator", least=14),
    "category": Heading("category", rank=0),
    "directions": Heading("directions", rank=1, least=9),
    "arguments": Heading("arguments", least=16),
    "meaning": Heading("meaning", least=24),
}


def operators(
    pattern: Annotated[
        Optional[str],
        typer.Argument(help="Only names that match a pattern, such as `conv*`.", autocompletion=completion.operators),
    ] = None,
    *,
    category: options.Category = None,
    framework: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="F",
            help="List the operators of this framework. Repeatable.",
            autocompletion=completion.frameworks,
        ),
    ] = None,
    format: Annotated[str, typer.Option(metavar="F", help="Output format: console or md.")] = "console",
) -> None:
    """List the operators: category, directions, arguments, meaning.

    With `--framework`, list what it makes of them; without it no framework is imported. Those of installed plugins
    stand at the end.
    """
    if format not in FORMATS:
        raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")
    check_categories(category or ())
    members = [member for name in category or () for member in GROUPS.get(name, ())]
    chosen = [
        known
        for known in catalog().values()
        if (not category or known.category in category or known.name in members) and _matches(known.name, pattern)
    ]
    if framework:
        titles, rows = _supported(chosen, framework)
    else:
        titles, rows = _meanings(chosen)
        rows += _of_frameworks([member for member in members if _matches(member, pattern)])
        rows += () if category else _of_plugins(pattern)
    if not rows and pattern is not None:
        raise unknown("operator", pattern, catalog())
    if not rows:
        raise InputError("no neutral operator is in these groups", hint="leave `--framework` out to see what is")
    if format == "md":
        typer.echo(markdown(titles, rows))
        return
    headings = [HEADINGS.get(title, Heading(title, least=14)) for title in titles]
    show([Grid(headings, rows, whole="`--format md` has every column")])


def _meanings(chosen: Sequence[Operator]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    rows: list[tuple[str, ...]] = [
        (
            known.name,
            known.category,
            "forward, backward" if "backward" in known.directions else "forward",
            ", ".join((*known.inputs, *known.attributes)),
            known.summary,
        )
        for known in chosen
    ]
    return ("operator", "category", "directions", "arguments", "meaning"), rows


def _matches(name: str, pattern: str | None) -> bool:
    return pattern is None or fnmatchcase(name, pattern)


def _of_frameworks(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a row for each of a framework's own operators, which only the framework knows more of."""
    return [(name, "", "", "", "the framework's own") for name in names if split_implementation(name)[0] is not None]


def _of_plugins(pattern: str | None) -> list[tuple[str, ...]]:
    """Return a row for each operator of an installed plugin: what its file says, without running it."""
    from opperf.parent.sources.plugin_file import installed_operators

    return [
        (name, "plugin", "", ", ".join(declared.arguments), declared.summary)
        for name, declared in installed_operators(partial(typer.echo, err=True)).items()
        if _matches(name, pattern)
    ]


def _supported(chosen: Sequence[Operator], names: Sequence[str]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    from opperf.domain.registry import framework
    from opperf.parent.cli.progress import Bar
    from opperf.parent.support import support

    asked = [framework(name).name for name in dict.fromkeys(names)]
    found = support(chosen, asked, Bar().note)
    rows = [(known.name, known.category, *(found[known.name, name].text() for name in asked)) for known in chosen]
    return ("operator", "category", *asked), rows
