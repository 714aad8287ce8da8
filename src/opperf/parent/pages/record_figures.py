"""The charts of records: shares of a suite, times, sizes, the roofline and distributions; and what all charts share."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from opperf.domain.case import Case
from opperf.domain.measurement import CountedTimes, Quantity, Samples
from opperf.domain.record import Record
from opperf.domain.units import (
    format_byte_rate,
    format_bytes,
    format_flop_rate,
    format_interval,
    format_percent,
    format_seconds,
)
from opperf.parent.pages.charts import Chart
from opperf.parent.pages.charts.distributions import Distributions, Spread
from opperf.parent.pages.charts.drawing import color
from opperf.parent.pages.charts.intervals import Bar, Bars, Intervals, Row
from opperf.parent.pages.charts.scatter import Ceiling, Point, Scatter, Series
from opperf.parent.reports.text import case_text, short_text, subject

#: The most rows of a chart; the table below it has all.
MOST_ROWS, MOST_SPREADS, MOST_SIZES = 60, 24, 12
#: The fewest sizes that make a line worth drawing.
LEAST_SIZES = 3


def record_charts(records: Sequence[Record]) -> list[Chart]:
    """Return the charts of records that have times."""
    every = (_shares(records), _times(records), _sizes(records), _roofline(records), _distributions(records))
    return [chart for some in every for chart in some]


def limit_note(count: int, most: int, what: str) -> str:
    """Say how many rows of a chart are left to the table; nothing where it has all."""
    return f" The first {most} of {count} {what}." if count > most else ""


def details(words: Sequence[tuple[str, str]]) -> Callable[[Case, str, str], str]:
    """Return a function that writes a row's case, then its direction and its side where rows differ in them.

    What is said last is what a narrow chart leaves out.
    """
    differences = [len(set(kind)) > 1 for kind in zip(*words)]

    def detail(case: Case, *kinds: str) -> str:
        differing = (word for word, differs in zip(kinds, differences, strict=True) if differs)
        return " ".join(filter(None, (short_text(case), *differing)))

    return detail


def _shares(records: Sequence[Record]) -> Iterator[Chart]:
    if all(record.trial.count == 1 for record in records):
        return
    sides: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.details.suite is not None:
            sides[_side(record)].append(record)
    for side, several in sides.items():
        operators: dict[str, list[Record]] = defaultdict(list)
        for record in several:
            operators[record.trial.case.operator].append(record)
        bars = []
        for operator, group in operators.items():
            facts = [record.details.suite for record in group if record.details.suite is not None]
            total, share = sum(fact.total for fact in facts), sum(fact.share for fact in facts)
            calls = sum(record.trial.count for record in group)
            detail = f"{calls} call{'s' if calls != 1 else ''} of {len(group)} case{'s' if len(group) != 1 else ''}"
            bars.append(Bar(operator, detail, share, f"{format_percent(share)}, {format_seconds(total)}"))
        bars.sort(key=lambda bar: -bar.share)
        yield Bars(
            f"Shares of the whole: {side}",
            "Number of calls times the time of one call, by operator."
            + limit_note(len(bars), MOST_SPREADS, "operators"),
            bars[:MOST_SPREADS],
        )


def _side(record: Record) -> str:
    side = record.trial.side
    words = [side.framework if side.environment in ("current", side.framework) else side.environment]
    words += [word for word, usual in ((side.device, "cpu"), (side.mode, "eager")) if word != usual]
    return " ".join([*words, *([f"{side.threads} threads"] if side.threads != 1 else [])])


def _times(records: Sequence[Record]) -> Iterator[Chart]:
    if not records:
        return
    sides = list(dict.fromkeys(_side(record) for record in records))
    rows = []
    for record in records[:MOST_ROWS]:
        time, trial = record.time, record.trial
        if time is None:
            continue
        direction = "" if trial.direction == "forward" else f"{trial.direction} "
        figures = {
            "mean" if time.median is None else "median": format_seconds(time.value),
            "fastest": format_seconds(time.min),
            "90 % within": format_seconds(time.p90),
            "samples:": time.samples,
            "processes:": time.processes,
        }
        tip = [f"{word} {number}" for word, number in figures.items() if number not in (None, "")]
        width = None if time.min is None or time.p90 is None else (time.min, time.p90)
        rows.append(
            Row(
                subject(trial.case, trial.side),
                f"{short_text(trial.case)} {direction}".strip(),
                time.value,
                time.interval or width,
                f"{format_seconds(time.value)} {format_interval(time.interval)}".rstrip(),
                color(sides.index(_side(record))),
                tip="\n".join([*tip, *(warning.message for warning in record.warnings)]),
            )
        )
    widths = {record.time.interval is not None for record in records if record.time is not None}
    line = "the 95 % interval over processes" if widths == {True} else "from the fastest to the 90th percentile"
    line = line if len(widths) == 1 else "the interval over processes, or the fastest to the 90th percentile"
    yield Intervals(
        "Times of one call",
        f"A dot is the median, its line {line}.{limit_note(len(records), MOST_ROWS, 'trials')}",
        rows,
        format_seconds,
        legend=sides,
    )


def _sizes(records: Sequence[Record]) -> Iterator[Chart]:
    operators: dict[tuple[str, str], dict[str, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        time, trial = record.time, record.trial
        size = trial.case.input_bytes
        if time is not None and size and time.value > 0:
            text = case_text(trial.case)
            tip = f"{text}\n{format_bytes(size)}, {format_seconds(time.value)}"
            point = Point(size, time.value, "", tip, time.interval)
            operators[subject(trial.case, trial.side), trial.direction][_side(record)].append(point)
    groups = {
        what: sides
        for what, sides in operators.items()
        if max(len({point.x for point in points}) for points in sides.values()) >= LEAST_SIZES
    }
    for (operator, direction), sides in list(groups.items())[:MOST_SIZES]:
        yield Scatter(
            f"Time against size: {operator}{'' if direction == 'forward' else f' {direction}'}",
            "Each dot is a case." + limit_note(len(groups), MOST_SIZES, "operators"),
            [Series(side, sorted(points, key=lambda point: point.x), joined=True) for side, points in sides.items()],
            ("bytes of inputs", format_bytes),
            ("time of one call", format_seconds),
        )


def _roofline(records: Sequence[Record]) -> Iterator[Chart]:
    """Yield a roofline of the operators, if the machine's limits were measured."""
    sides: dict[str, list[Point]] = defaultdict(list)
    widths, peaks = set(), set()
    for record in records:
        flops, nbytes = (record.metrics.get(metric) for metric in ("flops", "bytes"))
        limit, time = record.details.roofline, record.time
        if limit is None or time is None or not isinstance(flops, Quantity) or not isinstance(nbytes, Quantity):
            continue
        if not flops.value or not nbytes.value or not limit.seconds or not time.value:
            continue
        rate = flops.value / time.value
        if limit.bound == "memory":
            widths.add(nbytes.value / limit.seconds)
        else:
            peaks.add(flops.value / limit.seconds)
        operator = subject(record.trial.case, record.trial.side)
        tip = f"{operator} {case_text(record.trial.case)}\n{format_flop_rate(rate)}, "
        tip += f"{format_percent(limit.seconds / time.value)} of the limit by {limit.bound}"
        sides[_side(record)].append(
            Point(flops.value / nbytes.value, rate, operator, tip, limit=flops.value / limit.seconds)
        )
    if not sides:
        return
    places = [point.x for points in sides.values() for point in points]
    low, high = min(places) / 1.5, max(places) * 1.5
    peak = max(peaks, default=math.inf)
    ends = {format_byte_rate(width): width for width in (min(widths), max(widths))} if widths else {}
    ceilings = [
        Ceiling(name, (low, low * width), (min(high, peak / width), min(high * width, peak)))
        for name, width in ends.items()
        if low * width < peak
    ]
    ceilings += [Ceiling(format_flop_rate(peak), (low, peak), (high, peak))] if peaks else []
    yield Scatter(
        "Roofline",
        "Operations per second over operations per byte. The line above each operator is its limit on this machine: "
        "the bandwidth of the memory that holds its data, or the fastest product.",
        [Series(side, points) for side, points in sides.items()],
        ("operations per byte", lambda value: f"{value:g}"),
        ("operations per second", format_flop_rate),
        ceilings,
    )


def _distributions(records: Sequence[Record]) -> Iterator[Chart]:
    spreads = []
    timed_records = [record for record in records if record.samples.get("time")]
    detail = details([(record.trial.direction, _side(record)) for record in timed_records])
    for record in timed_records[:MOST_SPREADS]:
        samples = [Samples.from_json(columns) for columns in record.samples["time"]]
        processes = CountedTimes.of(samples, record.trial.side).processes
        time = record.time
        if time is not None and time.value > 0 and all(processes):
            trial = record.trial
            text = detail(trial.case, trial.direction, _side(record))
            spreads.append(Spread(subject(trial.case, trial.side), text, processes, time.value))
    if spreads:
        yield Distributions(
            "Samples of each process",
            "Each shape is a process; the mark is its median. All are relative to the median over processes."
            + limit_note(len(timed_records), MOST_SPREADS, "trials"),
            spreads,
        )
