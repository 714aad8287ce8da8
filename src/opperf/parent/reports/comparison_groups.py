"""Comparisons by groups of operators: what products, convolutions, views and copies take on both sides.

All calls of a suite are counted. A case without a time on both sides counts in no row.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace

from opperf.domain.dataclass import dataclass
from opperf.domain.operator_group import group_of
from opperf.domain.stats.order import median
from opperf.domain.units import format_ratio, format_seconds
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.reports.comparison import document as by_operator
from opperf.parent.reports.comparison_rows import named_sides
from opperf.parent.reports.document import Column, Document, Legend, Table, table
from opperf.parent.reports.text import common_subject

LEGEND = Legend(
    {
        "ratio": "ratio: new / base, of the sums of all calls",
        "median": "median, largest: of the ratios of single cases",
        "operator": "operator: the one with the largest ratio",
    }
)


@dataclass(frozen=True)
class ComparedGroup:
    """The operators of one group on a base and a new side, in a direction: seconds of all their calls.

    `typical` and `largest` are the median and the largest ratio of its cases, `operator` the one with the largest.
    `slower` and `faster` count verdicts.
    """

    base: str
    new: str
    direction: str
    group: str
    cases: int
    calls: int
    base_total: float
    new_total: float
    typical: float
    largest: float
    operator: str
    slower: int
    faster: int

    @property
    def ratio(self) -> float:
        """New over base, of the sums."""
        return self.new_total / self.base_total


COLUMNS: tuple[Column[ComparedGroup], ...] = (
    Column("base", "base", lambda row: row.base, presence="varied", least=10),
    Column("new", "new", lambda row: row.new, presence="varied", least=10),
    Column("direction", "direction", lambda row: row.direction, presence="varied"),
    Column("group", "group", lambda row: row.group, names=True),
    Column("cases", "cases", lambda row: row.cases, str, "right", rank=1),
    Column("calls", "calls", lambda row: row.calls, str, "right", rank=0),
    Column("base_total_s", "base time", lambda row: row.base_total, format_seconds, "right"),
    Column("new_total_s", "new time", lambda row: row.new_total, format_seconds, "right"),
    Column("ratio", "ratio", lambda row: row.ratio, format_ratio, "right"),
    Column("median_ratio", "median", lambda row: row.typical, format_ratio, "right"),
    Column("largest_ratio", "largest", lambda row: row.largest, format_ratio, "right"),
    Column("operator", "operator", lambda row: row.operator, least=14, rank=2),
    Column("slower", "slower", lambda row: row.slower, str, "right"),
    Column("faster", "faster", lambda row: row.faster, str, "right"),
)


def document(run: ComparisonRun, top: int | None = None) -> Document:
    """Return the report of comparisons with a row for each group in place of those for operators."""
    report = by_operator(run)
    blocks = [block for block in report.blocks if not isinstance(block, Legend)]
    blocks = [groups_table(run, top) if isinstance(block, Table) else block for block in blocks]
    return replace(report, blocks=[*blocks, LEGEND], data=lambda: groups_json(run))


def groups_table(run: ComparisonRun, top: int | None = None) -> Table:
    """Return the table of groups."""
    return table(COLUMNS, compared_groups(run.comparisons), top=top)


def groups_json(run: ComparisonRun) -> dict[str, object]:
    """Return the document of comparisons, and their groups."""
    groups = [{**asdict(row), "ratio": row.ratio} for row in compared_groups(run.comparisons)]
    return {**run.to_json(), "groups": groups}


def compared_groups(comparisons: Sequence[Comparison]) -> tuple[ComparedGroup, ...]:
    """Return the groups, those of one pair of sides and direction together, the largest ratio of sums first."""
    groups: dict[tuple[str, str, str], dict[str, list[Comparison]]] = defaultdict(lambda: defaultdict(list))
    for comparison in comparisons:
        if comparison.base_time and comparison.new_time:
            place = (*named_sides(comparison), comparison.direction)
            groups[place][group_of(comparison.case.operator)].append(comparison)
    result: list[ComparedGroup] = []
    for place, members in groups.items():
        rows = [_row(place, group, several) for group, several in members.items()]
        result += sorted(rows, key=lambda row: (-row.ratio, row.group))
    return tuple(result)


def _row(place: tuple[str, str, str], group: str, comparisons: Sequence[Comparison]) -> ComparedGroup:
    times = [(one.count, one.base_time or 0.0, one.new_time or 0.0) for one in comparisons]
    ratios = [new / base for _, base, new in times]
    words = [one.verdict.verdict for one in comparisons]
    return ComparedGroup(
        *place,
        group=group,
        cases=len(comparisons),
        calls=sum(one.count for one in comparisons),
        base_total=math.fsum(count * base for count, base, _ in times),
        new_total=math.fsum(count * new for count, _, new in times),
        typical=median(ratios),
        largest=max(ratios),
        operator=common_subject(comparisons[ratios.index(max(ratios))]),
        slower=words.count("slower"),
        faster=words.count("faster"),
    )
