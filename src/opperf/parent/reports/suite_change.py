"""Two suites beside each other: a row for each module and group of operators, and the ratio of the whole."""

from __future__ import annotations

from collections.abc import Callable

from opperf.domain.units import format_ratios, format_seconds, plural
from opperf.parent.documents.suite_change import Part, Row, SuiteChange, by_group
from opperf.parent.reports.document import Block, Column, Document, Legend, Note, table

LEGEND = Legend(
    {
        "ratio": "ratio: after / before, of all measured calls of the row",
        "difference": "difference: after - before, the largest first",
        "only": "only: the suite that alone has such calls there",
    }
)


def _time(side: Callable[[Row], Part]) -> Callable[[Row], float | None]:
    return lambda row: side(row).time if side(row).measured else None


def _calls(row: Row) -> str:
    before, after = row.before.calls, row.after.calls
    return str(before) if before == after else f"{before}, {after}"


COLUMNS: tuple[Column[Row], ...] = (
    Column("module", "module", lambda row: row.module, least=14),
    Column("group", "group", lambda row: row.group, least=10),
    Column("before_s", "before", _time(lambda row: row.before), format_seconds, "right"),
    Column("after_s", "after", _time(lambda row: row.after), format_seconds, "right"),
    Column("difference_s", "difference", lambda row: row.difference, lambda value: _signed(value), "right"),
    Column("ratio", "ratio", lambda row: row.ratio, lambda value: "" if value is None else f"{value:.3f}", "right"),
    Column("before_calls", None, lambda row: row.before.calls),
    Column("after_calls", None, lambda row: row.after.calls),
    Column(None, "calls", _calls, align="right"),
    Column("only", "only", lambda row: row.only),
)


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{format_seconds(abs(seconds))}" if seconds else "0 s"


def document(change: SuiteChange, by: str = "operator") -> Document:
    """Return the report; with `group` a row has all modules."""
    text = summary(change)
    rows = by_group(change.rows) if by == "group" else change.rows
    blocks: list[Block] = [table(COLUMNS, rows), Note(text), LEGEND, *map(Note, unmeasured(change))]
    if change.interval is None:
        blocks.append(Note("no interval: it needs three processes that measured every case (`--processes 3`)"))
    return Document("opperf compare", blocks, change.to_json, summary=text, started=change.run.started)


def summary(change: SuiteChange) -> str:
    """Say what all calls take before and after, and their ratio."""
    total = change.whole
    text = f"all calls: {format_seconds(total.before.time)} before, {format_seconds(total.after.time)} after"
    if total.ratio is None:
        return text
    return (
        f"{text}, ratio {total.ratio:.3f} {'' if change.interval is None else format_ratios(change.interval)}".rstrip()
    )


def unmeasured(change: SuiteChange) -> list[str]:
    """Say which calls are in neither sum."""
    whole, lines = change.whole, []
    for name, suite, part in (("before", change.before, whole.before), ("after", change.after, whole.after)):
        if part.measured < part.calls:
            lines.append(f"{name}: {part.calls - part.measured} of {plural(part.calls, 'call')} were not measured")
        if left := sum(one.count for one in suite.left_out):
            lines.append(f"{name}: {plural(left, 'call')} of the program are in no case of `{suite.name}`")
    return lines
