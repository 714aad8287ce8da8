"""A run by groups of operators: what products, convolutions, views and copies take, all calls of a suite counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace

from opperf.domain.dataclass import dataclass
from opperf.domain.operator_group import group_of
from opperf.domain.record import Record, Run
from opperf.domain.units import format_percent, format_seconds
from opperf.parent.reports.document import Column, Document, Table, table
from opperf.parent.reports.run import document as by_operator
from opperf.parent.reports.text import place


@dataclass(frozen=True)
class GroupRow:
    """The operators of one group on one side, in a direction: seconds of all their calls, and the largest of them."""

    side: str
    direction: str
    group: str
    operators: int
    cases: int
    calls: int
    total: float
    share: float
    largest: str


COLUMNS: tuple[Column[GroupRow], ...] = (
    Column("side", "side", lambda row: row.side, presence="varied", least=14),
    Column("direction", "direction", lambda row: row.direction, presence="varied"),
    Column("group", "group", lambda row: row.group, names=True),
    Column("operators", "operators", lambda row: row.operators, str, "right"),
    Column("cases", "cases", lambda row: row.cases, str, "right"),
    Column("calls", "calls", lambda row: row.calls, str, "right"),
    Column("total_s", "total", lambda row: row.total, format_seconds, "right"),
    Column("share", "share", lambda row: row.share, format_percent, "right"),
    Column("largest", "largest", lambda row: row.largest, least=20, rank=0),
)


def document(run: Run, top: int | None = None) -> Document:
    """Return the report of a run with a row for each group in place of those for operators; the rest is the same."""
    report = by_operator(run, None)
    rows = group_rows(run.records)
    groups = table(COLUMNS, rows, top=top)
    blocks = [groups if isinstance(block, Table) else block for block in report.blocks]
    return replace(report, blocks=blocks, data=lambda: {**run.to_json(), "groups": [asdict(row) for row in rows]})


def group_rows(records: Sequence[Record]) -> tuple[GroupRow, ...]:
    """Return the rows, those of one side and direction together, the largest first."""
    groups: dict[tuple[str, str], dict[str, list[tuple[Record, float]]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        seconds = _seconds(record)
        if seconds is not None:
            trial = record.trial
            groups[place(trial.side), trial.direction][group_of(trial.case.operator)].append((record, seconds))
    result: list[GroupRow] = []
    for (side, direction), members in groups.items():
        everything = sum(seconds for several in members.values() for _, seconds in several)
        rows = [_row(side, direction, group, several, everything) for group, several in members.items()]
        result += sorted(rows, key=lambda row: (-row.total, row.group))
    return tuple(result)


def _seconds(record: Record) -> float | None:
    """Return the time of all calls of a case, of one call where it is not of a suite; None where that is unknown."""
    return record.total if record.total is not None else None if record.time is None else record.time.value


def _row(side: str, direction: str, group: str, members: Sequence[tuple[Record, float]], everything: float) -> GroupRow:
    total = sum(seconds for _, seconds in members)
    by_name: dict[str, float] = defaultdict(float)
    for record, seconds in members:
        by_name[record.trial.case.operator] += seconds
    return GroupRow(
        side=side,
        direction=direction,
        group=group,
        operators=len(by_name),
        cases=len({record.trial.case.id for record, _ in members}),
        calls=sum(record.trial.count for record, _ in members),
        total=total,
        share=total / everything if everything else 0.0,
        largest=max(by_name, key=lambda name: by_name[name]),
    )
