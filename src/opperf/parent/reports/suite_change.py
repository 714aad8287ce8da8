"""Two suites beside each other: a row for each module and group of operators, and the verdict on the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from opperf.domain.units import format_difference, format_ratios, format_seconds, plural
from opperf.parent.documents.comparison import CHANGES
from opperf.parent.documents.suite_change import Part, Row, SuiteChange, Unmeasured, by_group
from opperf.parent.reports.document import Block, Check, Column, Document, Legend, Note, table

LEGEND = Legend(
    {
        "ratio": "ratio: after / before, of all measured calls of the row",
        "interval": "interval: 95 %, over pairs of processes",
        "difference": "difference: after - before, the largest first",
        "only": "only: the suite that alone has such calls there",
    }
)
#: No more operators that were not measured are named; the JSON document has all.
MOST_UNMEASURED = 8


def _time(side: Callable[[Row], Part]) -> Callable[[Row], float | None]:
    return lambda row: side(row).time if side(row).measured else None


def _end(place: int) -> Callable[[Row], float | None]:
    return lambda row: None if row.interval is None else row.interval[place]


def _calls(row: Row) -> str:
    before, after = row.before.calls, row.after.calls
    return str(before) if before == after else f"{before}, {after}"


COLUMNS: tuple[Column[Row], ...] = (
    Column("module", "module", lambda row: row.module, least=14),
    Column("group", "group", lambda row: row.group, least=10),
    Column("before_s", "before", _time(lambda row: row.before), format_seconds, "right"),
    Column("after_s", "after", _time(lambda row: row.after), format_seconds, "right"),
    Column("difference_s", "difference", lambda row: row.difference, format_difference, "right"),
    Column("ratio", "ratio", lambda row: row.ratio, lambda value: "" if value is None else f"{value:.3f}", "right"),
    Column("low", None, _end(0)),
    Column("high", None, _end(1)),
    Column(None, "interval", lambda row: row.interval, format_ratios, rank=1),
    Column("before_calls", None, lambda row: row.before.calls),
    Column("after_calls", None, lambda row: row.after.calls),
    Column(None, "calls", _calls, align="right", rank=0),
    Column("only", "only", lambda row: row.only),
)


def document(change: SuiteChange, by: str = "operator") -> Document:
    """Return the report; with `group` a row has all modules."""
    text = summary(change)
    verdict = change.verdict
    rows = by_group(change.rows) if by == "group" else change.rows
    settle = [] if verdict.settle is None else [Note(f"to settle it: {verdict.settle}", kind="hint")]
    blocks: list[Block] = [
        table(COLUMNS, rows),
        Note(text),
        Note(f"{verdict.verdict}: {verdict.reason} ({plural(verdict.pairs, 'pair')} of processes)"),
        *settle,
        LEGEND,
        *map(Note, unmeasured(change)),
    ]
    return Document(
        "opperf compare",
        blocks,
        change.to_json,
        [_check(change)],
        summary=text,
        failed=verdict.verdict == "failed",
        started=change.run.started,
    )


def _check(change: SuiteChange) -> Check:
    """Return the whole as a check for CI systems, which informs: a gate fails."""
    verdict = change.verdict
    return Check(
        f"{change.before} and {change.after}",
        f"{change.before} -> {change.after}",
        "all calls",
        verdict.verdict,
        summary(change),
        {"failed": "error", "inconclusive": "skipped"}.get(verdict.verdict, "passed"),  # type: ignore[arg-type]
        "notice" if verdict.verdict in CHANGES else "",
        numbers={"ratio": verdict.ratio, "low": _end(0)(change.whole), "high": _end(1)(change.whole)},
    )


def summary(change: SuiteChange) -> str:
    """Say what all calls take before and after, their ratio, and the verdict."""
    whole, verdict = change.whole, change.verdict
    text = f"all calls: {format_seconds(whole.before.time)} before, {format_seconds(whole.after.time)} after"
    if verdict.ratio is None:
        return f"{text}: {verdict.verdict}"
    interval = "" if verdict.interval is None else f" {format_ratios(verdict.interval)}"
    return f"{text}, ratio {verdict.ratio:.3f}{interval}: {verdict.verdict}"


def unmeasured(change: SuiteChange) -> Iterator[str]:
    """Say which calls are in neither sum, those of the most calls first."""
    missing = sorted(change.unmeasured, key=lambda gap: -gap.calls)
    yield from map(_gap_text, missing[:MOST_UNMEASURED])
    if left := missing[MOST_UNMEASURED:]:
        calls = sum(gap.calls for gap in left)
        yield f"{plural(calls, 'call')} of {plural(len(left), 'other operator')} are in no sum, either"


def _gap_text(gap: Unmeasured) -> str:
    return f"{gap.suite}: {plural(gap.calls, 'call')} of `{gap.operator}` not measured: {gap.reason}"
