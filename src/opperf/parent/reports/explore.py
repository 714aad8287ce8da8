"""What was explored, and what costs too much there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from opperf.domain.plan import ReadSide
from opperf.domain.units import format_bytes, format_seconds, plural
from opperf.parent.documents.exploration import Anomaly, Exploration, Territory
from opperf.parent.reports.document import Block, Check, Column, Document, Note, Section, table
from opperf.parent.reports.machine import crowds
from opperf.parent.reports.rerun import is_plain
from opperf.parent.reports.text import case_text, place, short_text

#: A finding and where it is.
Row = tuple[Territory, Anomaly]


def document(exploration: Exploration) -> Document:
    """Return the report."""
    rows = [(territory, one) for territory in exploration.territories for one in territory.anomalies]
    blocks: list[Block] = [table(_columns(exploration), rows)] if rows else []
    blocks += [Section("", [Note(text) for row in rows for text in _details(row)])] if rows else []
    blocks += [Note(line) for line in (*_summary(exploration), *crowds(exploration.run))]
    text = " ".join(_summary(exploration))
    return Document(
        "opperf explore", blocks, exploration.to_json, [*_checks(rows)], text, started=exploration.run.started
    )


def _columns(exploration: Exploration) -> tuple[Column[Row], ...]:
    size: Callable[[float], str] = format_bytes if exploration.objective == "memory" else format_seconds
    beside = {"slower-than": "other side", "peak-share": "limit"}.get(exploration.objective, "neighbour")
    return (
        Column("case_id", None, lambda row: row[1].case.id),
        Column("operator", "operator", lambda row: row[0].operator, least=10),
        Column("direction", "direction", lambda row: row[0].direction, presence="varied"),
        Column("side", "side", lambda row: place(row[0].side), least=12, presence="varied"),
        Column("inputs", None, lambda row: case_text(row[1].case)),
        Column(None, "smallest case", lambda row: short_text(row[1].case), least=14, lines=6, place=1),
        Column("cost", "takes", lambda row: row[1].cost, size, align="right"),
        Column("expected", beside, lambda row: row[1].expected, size, align="right"),
        Column("ratio", "ratio", lambda row: row[1].ratio, lambda ratio: f"{ratio:.2f}", align="right"),
        Column("ratio_low", None, lambda row: row[1].interval and row[1].interval[0]),
        Column("ratio_high", None, lambda row: row[1].interval and row[1].interval[1]),
        Column(None, "95 % interval", lambda row: _interval(row[1]), rank=1),
        Column("pairs", "pairs", lambda row: row[1].pairs, rank=0),
        Column("region", "where", lambda row: row[1].region, least=16, lines=4),
        Column("remedy", "instead", lambda row: row[1].remedy or "", least=12, lines=3),
    )


def _interval(anomaly: Anomaly) -> str:
    return "" if anomaly.interval is None else f"[{anomaly.interval[0]:.2f}, {anomaly.interval[1]:.2f}]"


def _details(row: Row) -> Iterator[str]:
    territory, anomaly = row
    if not isinstance(territory.side, ReadSide) or is_plain(anomaly.command):
        yield f"again: {anomaly.command}"
    yield from (f"ran: {line}" for line in anomaly.explanation.get("difference", ()))


def _summary(exploration: Exploration) -> Iterator[str]:
    """Say of each operator how much was looked at, and what came of it."""
    noun = {"slower-than": "region", "peak-share": "region"}.get(exploration.objective, "cliff")
    for territory in exploration.territories:
        count = len(territory.anomalies)
        tail = f", {territory.unconfirmed} not confirmed" if territory.unconfirmed else ""
        tail += f", {plural(territory.unmeasured, 'look')} failed" if territory.unmeasured else ""
        if territory.out_of_time:
            tail += "; the time was over before all looks were made: use a longer `--budget`"
        if territory.unexamined:
            tail += (
                f"; {territory.unexamined} more suspicious cases were not examined: use more `--budget` or `--looks`"
            )
        yield (
            f"{territory.operator} on {place(territory.side)}, {territory.direction}: "
            f"{count or 'no'} {noun}{'' if count == 1 else 's'} beyond a factor of {exploration.factor:g} "
            f"in {plural(territory.looks, 'look')} (brief timings of a case){tail}."
        )


def _checks(rows: list[Row]) -> Iterator[Check]:
    for territory, anomaly in rows:
        short = f"{territory.operator} {territory.direction}"
        text = f"{anomaly.ratio:.2f} times what it should take at {anomaly.region}"
        cost = {"cost": anomaly.cost if math.isfinite(anomaly.cost) else None}
        yield Check(
            f"{short} {case_text(anomaly.case)}",
            place(territory.side),
            short,
            "cliff",
            text,
            "failure",
            "warning",
            numbers=cost,
        )
