"""List operators: of the catalog, of groups and of plugins, and which framework has which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.catalog import Operator, catalog
from opperf.catalog.groups import GROUPS, check_categories
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, unknown
from opperf.domain.plan import Settings, Side
from opperf.domain.registry import FRAMEWORKS, framework, split_implementation
from opperf.parent.reports import operators as reports
from opperf.parent.reports.document import Document
from opperf.parent.reports.operators import Line
from opperf.parent.sources.plugin_file import (
    DeclaredOperator,
    installed_operators,
    operators_or_framework,
    plugin_file,
    register_frameworks,
)

if TYPE_CHECKING:
    from opperf.domain.message.replies import Meaning


def listing(
    patterns: Sequence[str],
    categories: Sequence[str],
    frameworks: Sequence[str],
    note: Callable[[str], None],
    plugin: Sequence[str | Path] = (),
) -> tuple[list[str], Document]:
    """Return the names of operators that match, and the report on them.

    With frameworks, it describes their implementations; without, none is imported. `plugin` are files with operators or
    frameworks of the user's own. Raises `InputError` where a pattern matches none.
    """
    check_categories(categories)
    plugins = register_frameworks([plugin_file(Path(path)) for path in plugin], frameworks, note)
    members = [member for name in categories for member in GROUPS.get(name, ())]
    operators = [
        one
        for one in catalog().values()
        if (not categories or one.category in categories or one.name in members) and _matches(one.name, patterns)
    ]
    owners = [framework(name).name for name in dict.fromkeys(frameworks)]
    declarations = {} if categories or owners else _declarations(plugins, note)
    lines = [] if owners else [*map(reports.line, operators), *_others(members, declarations, patterns)]
    matches = [*(one.name for one in operators), *(line[0] for line in lines)]
    for pattern in patterns if len(patterns) > 1 else ():
        if not any(fnmatchcase(name, pattern) for name in matches):
            raise unknown("operator", pattern, catalog())
    if not (operators or lines):
        if patterns:
            raise unknown("operator", patterns[0], catalog())
        raise InputError("no neutral operator is in these groups", hint="leave out `--framework` to see which")
    if owners:
        names = [one.name for one in operators]
        texts = {pair: one.text() for pair, one in support(operators, owners, note, plugins).items()}
        return names, reports.support(operators, owners, texts)
    return [line[0] for line in lines], reports.document(lines)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _declarations(plugins: Sequence[Path], note: Callable[[str], None]) -> Mapping[str, DeclaredOperator]:
    """Return the operators that plugins declare, by name, those of installed plugins last."""
    own = {name: one for path in plugins for name, one in operators_or_framework(path).items()}
    return {**own, **{name: one for name, one in installed_operators(note).items() if name not in own}}


def _others(
    members: Sequence[str], declarations: Mapping[str, DeclaredOperator], patterns: Sequence[str]
) -> Iterator[Line]:
    """Yield a row for each of a framework's own operators, and for what plugins declare."""
    for name in members:
        if split_implementation(name)[0] is not None and _matches(name, patterns):
            yield name, "", "", "", "the framework's own"
    for name, one in declarations.items():
        if _matches(name, patterns):
            yield name, "plugin", "", ", ".join(one.arguments), one.summary


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
    operators: Sequence[Operator],
    frameworks: Sequence[str],
    note: Callable[[str], None],
    plugins: Sequence[Path] = (),
) -> dict[tuple[str, str], Support]:
    """Return the support of each operator by each framework, by the names of both; a framework is started once.

    `plugins` provide further frameworks.
    """
    # What starts children takes long to import.
    from opperf.parent.workers.interpreters import settled_side
    from opperf.parent.workers.pool import Pool

    result = {}
    with Pool(Settings(), note, plugins) as pool:
        for framework in frameworks:
            side = settled_side(Side(framework))
            for operator in operators:
                result[operator.name, framework] = _support(operator, framework, pool.describe(side, operator.name))
    return result


#: The directions to list; forward_backward follows from the other two.
DIRECTIONS = ("forward", "backward")


def _support(operator: Operator, framework: str, meaning: Meaning) -> Support:
    if meaning.path is None:
        return Support(None, reasons={"": meaning.reason or "there is no binding for it"})
    directions = DIRECTIONS if FRAMEWORKS[framework].gradients else DIRECTIONS[:1]
    measurable = [direction for direction in directions if direction in operator.directions]
    return Support(
        meaning.path,
        tuple(direction for direction in measurable if direction not in meaning.unsupported),
        {direction: reason for direction, reason in meaning.unsupported.items() if direction in measurable},
        meaning.note,
    )
