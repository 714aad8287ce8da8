"""The charts of records: shares of a suite, times, sizes and the roofline."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from opperf.domain.measurement import Quantity
from opperf.domain.record import Record
from opperf.domain.units import format_byte_rate, format_bytes, format_flop_rate, format_percent, format_seconds, plural
from opperf.parent.pages.charts import Chart
from opperf.parent.pages.charts.intervals import Bar, Bars
from opperf.parent.pages.charts.scatter import Ceiling, Point, Scatter, Series
from opperf.parent.pages.record_rows import all_distributions, limit_note, side_words, times
from opperf.parent.reports.text import case_text, subject

#: The most bars and charts of a kind; the table below them has all.
MOST_BARS, MOST_SIZES = 24, 12
#: The fewest sizes that make a line worth drawing.
LEAST_SIZES = 3


def record_charts(records: Sequence[Record], *, still: bool) -> list[Chart]:
    """Return the charts of records that have times; what opens on a page has its own chart in a `still` picture."""
    samples = all_distributions(records) if still else []
    chart = times(records)
    rows = [] if chart is None else [chart]
    return [*shares(records), *rows, *_sizes(records), *_roofline(records), *samples]


def shares(records: Sequence[Record]) -> Iterator[Chart]:
    """Yield the shares of the operators of a suite in all its calls, side by side."""
    if all(record.trial.count == 1 for record in records):
        return
    sides: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.details.suite is not None:
            sides[side_words(record)].append(record)
    for side, several in sides.items():
        operators: dict[str, list[Record]] = defaultdict(list)
        for record in several:
            operators[record.trial.case.operator].append(record)
        bars = []
        for operator, group in operators.items():
            facts = [record.details.suite for record in group if record.details.suite is not None]
            total, share = sum(fact.total for fact in facts), sum(fact.share for fact in facts)
            calls = sum(record.trial.count for record in group)
            detail = f"{plural(calls, 'call')} of {plural(len(group), 'case')}"
            bars.append(Bar(operator, detail, share, f"{format_percent(share)}, {format_seconds(total)}"))
        bars.sort(key=lambda bar: -bar.share)
        yield Bars(
            f"Shares of the whole: {side}",
            "Number of calls times the time of one call, by operator." + limit_note(len(bars), MOST_BARS, "operators"),
            bars[:MOST_BARS],
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
            operators[subject(trial.case, trial.side), trial.direction][side_words(record)].append(point)
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
        sides[side_words(record)].append(
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
