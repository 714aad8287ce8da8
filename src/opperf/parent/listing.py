"""Which operators there are: of the catalog, of groups and of installed plugins; and which framework has which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from opperf.catalog import Operator, catalog
from opperf.catalog.groups import GROUPS, check_categories
from opperf.domain.errors import InputError, unknown
from opperf.domain.message.replies import Meaning
from opperf.domain.plan import Settings, Side
from opperf.domain.registry import FRAMEWORKS, framework, split_implementation
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
        return [one.name for one in operators], reports.support(operators, owners, support(operators, owners, note))
    return [line[0] for line in lines], reports.document(lines)


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


@dataclass(frozen=True)
class Support:
    """What one framework makes of one operator.

    `path` is None where it has none, and `reasons` say why, or by direction why not in that one.
    """

    path: str | None
    directions: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None

    def text(self) -> str:
        """Return the cell of a table."""
        if self.path is None:
            return "missing: " + " ".join(self.reasons.values())
        without = [f"no {direction}: {reason}" for direction, reason in self.reasons.items()]
        return "; ".join([", ".join(self.directions), *without])


def support(
    operators: Sequence[Operator], frameworks: Sequence[str], note: Callable[[str], None]
) -> dict[tuple[str, str], Support]:
    """Return what each framework makes of each operator, by the names of both; a framework is started once."""
    # What starts children takes long to import.
    from opperf.parent.workers.interpreters import settled_side
    from opperf.parent.workers.pool import Pool

    result = {}
    with Pool(Settings(), note) as pool:
        for framework in frameworks:
            side = settled_side(Side(framework))
            for operator in operators:
                result[operator.name, framework] = _support(operator, framework, pool.describe(side, operator.name))
    return result


#: The directions that are told; forward and backward in one go follows from both.
TOLD = ("forward", "backward")


def _support(operator: Operator, framework: str, meaning: Meaning) -> Support:
    if meaning.path is None:
        return Support(None, reasons={"": meaning.reason or "there is no binding for it"})
    directions = TOLD if FRAMEWORKS[framework].gradients else TOLD[:1]
    declared = [direction for direction in directions if direction in operator.directions]
    return Support(
        meaning.path,
        tuple(direction for direction in declared if direction not in meaning.unsupported),
        {direction: reason for direction, reason in meaning.unsupported.items() if direction in declared},
        meaning.note,
    )
