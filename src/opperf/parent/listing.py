"""Which operators there are: of the catalog, of frameworks' groups and of installed plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from opperf.catalog import Operator, catalog
from opperf.catalog.groups import GROUPS, check_categories
from opperf.domain.errors import InputError, unknown
from opperf.domain.registry import framework, split_implementation
from opperf.parent.reports import operators as reports
from opperf.parent.reports.document import Document
from opperf.parent.reports.operators import Line
from opperf.parent.sources.plugin_file import installed_operators


def listing(
    pattern: str | None, categories: Sequence[str], frameworks: Sequence[str], note: Callable[[str], None]
) -> tuple[list[str], Document]:
    """Return the names of operators that match, and the report on them.

    With frameworks, it says what they make of each; without, none is imported. Raises `InputError` where none matches.
    """
    check_categories(categories)
    members = [member for name in categories for member in GROUPS.get(name, ())]
    operators = [
        one
        for one in catalog().values()
        if (not categories or one.category in categories or one.name in members) and _matches(one.name, pattern)
    ]
    owners = [framework(name).name for name in dict.fromkeys(frameworks)]
    lines = [] if owners else [*map(reports.line, operators), *_others(members, pattern, note, plugins=not categories)]
    if not (operators or lines):
        if pattern is not None:
            raise unknown("operator", pattern, catalog())
        raise InputError("no neutral operator is in these groups", hint="leave `--framework` out to see which")
    if owners:
        from opperf.parent.support import support  # what starts children takes long to import

        return _names(operators), reports.support(operators, owners, support(operators, owners, note))
    return [line[0] for line in lines], reports.document(lines)


def _names(operators: Sequence[Operator]) -> list[str]:
    return [one.name for one in operators]


def _matches(name: str, pattern: str | None) -> bool:
    return pattern is None or fnmatchcase(name, pattern)


def _others(
    members: Sequence[str], pattern: str | None, note: Callable[[str], None], *, plugins: bool
) -> Iterator[Line]:
    """Yield a row for each of a framework's own operators, and for what the files of installed plugins declare."""
    for name in members:
        if split_implementation(name)[0] is not None and _matches(name, pattern):
            yield name, "", "", "", "the framework's own"
    for name, declared in installed_operators(note).items() if plugins else ():
        if _matches(name, pattern):
            yield name, "plugin", "", ", ".join(declared.arguments), declared.summary
