"""The times of a run: a row for each case with all its sides on it, which opens to numbers and samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opperf.domain.measurement import CountedTimes, Samples
from opperf.domain.operator_group import group_of
from opperf.domain.record import Record
from opperf.domain.units import format_factor, format_interval, format_percent, format_seconds, plural
from opperf.parent.pages.charts.distributions import Distributions, Spread
from opperf.parent.pages.charts.drawing import COLORS, color
from opperf.parent.pages.charts.intervals import Intervals, Mark, Row
from opperf.parent.pages.labels import case_words, labels
from opperf.parent.reports.columns import roofline, spread
from opperf.parent.reports.document import Column, table
from opperf.parent.reports.fastest import fastest
from opperf.parent.reports.text import subject

#: The most rows of a chart of times, and from how many on they fold into groups.
MOST_TIMES, FOLDED = 120, 20
#: The most distributions of a picture.
MOST_SPREADS = 24
SPREADS = "Each shape is a process; the mark is its median. All are relative to the median over processes."


def limit_note(count: int, most: int, what: str) -> str:
    """Say how many rows of a chart are left to the table; nothing where it has all."""
    return f" The first {most} of {count} {what}." if count > most else ""


def side_words(record: Record) -> str:
    """Write where a record was measured: what is usual is left out."""
    side = record.trial.side
    words = [side.framework if side.environment in ("current", side.framework) else side.environment]
    words += [word for word, usual in ((side.device, "cpu"), (side.mode, "eager")) if word != usual]
    return " ".join([*words, *([f"{side.threads} threads"] if side.threads != 1 else [])])


def times(records: Sequence[Record]) -> Intervals | None:
    """Return the chart of times; None where nothing was measured."""
    timed = [record for record in records if record.time is not None and record.time.value > 0]
    if not timed:
        return None
    places: dict[str, int] = {}
    for record in timed:
        places.setdefault(side_words(record), len(places))
    apart = len(places) > COLORS
    every = _rows_of(timed, apart=apart)
    if len(every) > FOLDED:
        groups = list(dict.fromkeys(group_of(row[0].trial.case.operator) for row in every))
        every.sort(key=lambda row: groups.index(group_of(row[0].trial.case.operator)))
    visible = every[:MOST_TIMES]
    names, common = labels([*zip(*_words(visible))])
    folds = _folds(visible) if len(visible) > FOLDED else {}
    rows = [_row(row, places, *name, folds) for row, name in zip(visible, names, strict=True)]
    widths = {record.time.interval is not None for record in timed if record.time is not None}
    line = "the 95 % interval over processes" if widths == {True} else "from the fastest to the 90th percentile"
    line = line if len(widths) == 1 else "the interval over processes, or the fastest to the 90th percentile"
    return Intervals(
        "Times of one call",
        f"{f'Of {common}. ' if common else ''}A dot is the median, its line {line}; a row opens to its samples."
        + limit_note(len(every), MOST_TIMES, "cases"),
        rows,
        format_seconds,
        legend=[] if apart else list(places),
        unit="time of one call",
    )


def _rows_of(records: Sequence[Record], *, apart: bool) -> list[list[Record]]:
    """Return the records of each row: those of a case and direction, each by itself where sides are too many."""
    rows: dict[tuple[object, ...], list[Record]] = {}
    for place, record in enumerate(records):
        key = (record.trial.case.id, record.trial.direction, place if apart else None)
        rows.setdefault(key, []).append(record)
    return [*rows.values()]


def _words(rows: Sequence[Sequence[Record]]) -> list[Sequence[str]]:
    """Return the words that name rows: operators or functions, cases, directions, and sides of rows that have one."""
    names = [" / ".join(dict.fromkeys(subject(one.trial.case, one.trial.side) for one in row)) for row in rows]
    directions = ["" if row[0].trial.direction == "forward" else row[0].trial.direction for row in rows]
    sides = [side_words(row[0]) if len(row) == 1 else "" for row in rows]
    return [names, case_words([row[0].trial.case for row in rows]), directions, sides]


def _folds(rows: Sequence[Sequence[Record]]) -> Mapping[str, str]:
    """Return the title of each group of rows, with which framework is fastest in how many of them."""
    groups: dict[str, list[Sequence[Record]]] = {}
    for row in rows:
        groups.setdefault(group_of(row[0].trial.case.operator), []).append(row)
    titles = {}
    for name, members in groups.items():
        lines = fastest([record for row in members for record in row])
        tally = f"; {lines[0]}" if len(lines) == 1 and len(members) > 1 else ""
        titles[name] = f"{name}: {plural(len(members), 'row')}{tally}"
    return titles


def _row(
    records: Sequence[Record], places: Mapping[str, int], label: str, detail: str, folds: Mapping[str, str]
) -> Row:
    values = [record.time.value for record in records if record.time is not None]
    apart = f"{format_factor(max(values) / min(values), 1)}x apart" if len(values) > 1 else ""
    shares = [share for record in records if (share := roofline(record)) is not None]
    peak = f"{format_percent(max(shares), digits=2)} of peak" if shares else ""
    return Row(
        label,
        detail,
        None,
        None,
        ", ".join(filter(None, (apart, peak))),
        tip="\n".join(_tip(record) for record in records),
        marks=[_mark(record, color(places[side_words(record)])) for record in records],
        group=folds.get(group_of(records[0].trial.case.operator), ""),
        behind=[table(NUMBERS, records), *distributions(records, [(side_words(record), "") for record in records])],
    )


def _mark(record: Record, level: str) -> Mark:
    time = record.time
    assert time is not None
    width = None if time.min is None or time.p90 is None else (time.min, time.p90)
    return Mark(time.value, time.interval or width, format_seconds(time.value), level)


def _tip(record: Record) -> str:
    time = record.time
    assert time is not None
    words = [f"{side_words(record)}: {format_seconds(time.value)} {format_interval(time.interval)}".rstrip()]
    share = roofline(record)
    words += [] if share is None else [f"{format_percent(share, digits=2)} of peak"]
    return "; ".join([*words, *(warning.message for warning in record.warnings)])


#: What stands behind a row: the numbers of each of its sides.
NUMBERS: tuple[Column[Record], ...] = (
    Column(None, "side", side_words),
    Column(None, "median", lambda one: one.time and one.time.value, format_seconds, "right"),
    Column(None, "interval", spread),
    Column(None, "fastest", lambda one: one.time and one.time.min, format_seconds, "right"),
    Column(None, "90 % within", lambda one: one.time and one.time.p90, format_seconds, "right"),
    Column(None, "samples", lambda one: one.time and one.time.samples, align="right"),
    Column(None, "processes", lambda one: one.time and one.time.processes, align="right"),
    Column(None, "of peak", roofline, format_percent, "right"),
)


def distributions(records: Sequence[Record], names: Sequence[tuple[str, str]], note: str = "") -> list[Distributions]:
    """Return the chart of the samples of records, which have these names, by process; none where none has any."""
    spreads = []
    for record, (label, detail) in zip(records, names, strict=True):
        time, columns = record.time, record.samples.get("time")
        if time is None or not columns or not time.value > 0:
            continue
        processes = CountedTimes.of([Samples.from_json(one) for one in columns], record.trial.side).processes
        if all(processes):
            spreads.append(Spread(label, detail, processes, time.value))
    return [Distributions("Samples of each process", SPREADS + note, spreads)] if spreads else []


def all_distributions(records: Sequence[Record]) -> list[Distributions]:
    """Return the chart of the samples of the first records, for a picture, in which no row opens."""
    timed = [record for record in records if record.samples.get("time")]
    first = timed[:MOST_SPREADS]
    words = _words([[record] for record in first])
    names, _ = labels([*zip(*words)])
    return distributions(first, names, limit_note(len(timed), MOST_SPREADS, "trials"))
