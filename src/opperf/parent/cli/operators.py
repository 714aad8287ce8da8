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
from opperf.parent.cli.output import deliver
from opperf.parent.reports.formats import check_format
from opperf.parent.reports.operators import Line, document, line

if TYPE_CHECKING:
    from opperf.catalog import Operator
    from opperf.parent.reports.document import Document


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
    format: options.Format = None,
) -> None:
    """List the operators: category, directions, arguments, meaning.

    With `--framework`, list what it makes of them; without it no framework is imported. Those of installed plugins
    stand at the end.
    """
    check_format(format)
    check_categories(category or ())
    members = [member for name in category or () for member in GROUPS.get(name, ())]
    chosen = [
        known
        for known in catalog().values()
        if (not category or known.category in category or known.name in members) and _matches(known.name, pattern)
    ]
    if framework:
        report = _supported(chosen, framework) if chosen else None
    else:
        lines = [*map(line, chosen), *_of_frameworks([member for member in members if _matches(member, pattern)])]
        lines += () if category else _of_plugins(pattern)
        report = document(lines) if lines else None
    if report is None and pattern is not None:
        raise unknown("operator", pattern, catalog())
    if report is None:
        raise InputError("no neutral operator is in these groups", hint="leave `--framework` out to see what is")
    deliver(report, format)


def _matches(name: str, pattern: str | None) -> bool:
    return pattern is None or fnmatchcase(name, pattern)


def _of_frameworks(names: Sequence[str]) -> list[Line]:
    """Return a row for each of a framework's own operators, which only the framework knows more of."""
    return [(name, "", "", "", "the framework's own") for name in names if split_implementation(name)[0] is not None]


def _of_plugins(pattern: str | None) -> list[Line]:
    """Return a row for each operator of an installed plugin: what its file says, without running it."""
    from opperf.parent.sources.plugin_file import installed_operators

    return [
        (name, "plugin", "", ", ".join(declared.arguments), declared.summary)
        for name, declared in installed_operators(partial(typer.echo, err=True)).items()
        if _matches(name, pattern)
    ]


def _supported(chosen: Sequence[Operator], names: Sequence[str]) -> Document:
    from opperf.domain.registry import framework
    from opperf.parent.cli.progress import Bar
    from opperf.parent.reports.operators import support as report
    from opperf.parent.support import support

    asked = [framework(name).name for name in dict.fromkeys(names)]
    return report(chosen, asked, support(chosen, asked, Bar().note))
