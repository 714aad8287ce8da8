"""The operators that can be measured: what each means, or what frameworks make of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from opperf.parent.reports.document import Column, Document, table

if TYPE_CHECKING:
    from opperf.catalog import Operator

#: Name, category, directions, arguments and meaning.
Line: TypeAlias = tuple[str, str, str, str, str]

MEANINGS: tuple[Column[Line], ...] = (
    Column("operator", "operator", lambda line: line[0], least=14),
    Column("category", "category", lambda line: line[1], rank=0),
    Column("directions", "directions", lambda line: line[2], rank=1, least=9),
    Column("arguments", "arguments", lambda line: line[3], least=16),
    Column("meaning", "meaning", lambda line: line[4], least=24),
)


def line(operator: Operator) -> Line:
    """Return the details of an operator of the catalog."""
    directions = "forward, backward" if "backward" in operator.directions else "forward"
    arguments = ", ".join((*operator.inputs, *operator.attributes))
    return operator.name, operator.category, directions, arguments, operator.summary


def document(lines: Iterable[Line]) -> Document:
    """Return the report of the definitions of operators."""
    return Document("opperf operators", [table(MEANINGS, lines)])


def support(operators: Iterable[Operator], frameworks: Sequence[str], texts: Mapping[tuple[str, str], str]) -> Document:
    """Return the report of each framework's implementation of each operator, by both names."""

    def of(framework: str) -> Column[Operator]:
        return Column(framework, framework, lambda operator: texts[operator.name, framework], least=14)

    columns: tuple[Column[Operator], ...] = (
        Column("operator", "operator", lambda operator: operator.name, least=14),
        Column("category", "category", lambda operator: operator.category, rank=0),
    )
    return Document("opperf operators", [table((*columns, *map(of, frameworks)), operators)])
