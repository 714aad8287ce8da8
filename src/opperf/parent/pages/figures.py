"""Which charts a result has: each function looks at one kind of result and returns what there is to draw of it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from opperf.domain.bisection import Bisection
from opperf.domain.case import Case
from opperf.domain.comparison import Comparison, ComparisonRun
from opperf.domain.exploration import Exploration
from opperf.domain.floor import NoiseRun
from opperf.domain.judging import Judged, JudgedRun, in_order
from opperf.domain.measurement import CountedTimes, Quantity, Samples
from opperf.domain.plan import Side
from opperf.domain.record import Record, Run
from opperf.domain.stats.significance import clopper_pearson
from opperf.domain.trace import Replay
from opperf.domain.units import (
    format_byte_rate,
    format_bytes,
    format_flop_rate,
    format_interval,
    format_percent,
    format_ratios,
    format_seconds,
)
from opperf.parent.analysis.summary import with_shares
from opperf.parent.pages.charts import Chart
from opperf.parent.pages.charts.distributions import Distributions, Spread
from opperf.parent.pages.charts.drawing import color
from opperf.parent.pages.charts.intervals import Bar, Bars, Intervals, Row
from opperf.parent.pages.charts.scatter import Ceiling, Point, Scatter, Series
from opperf.parent.reports.comparison import name
from opperf.parent.reports.comparison_rows import reasons, sides_of
from opperf.parent.reports.judge import factor, interval_text
from opperf.parent.reports.run import in_order as records_in_order
from opperf.parent.reports.text import case_text, common_subject, place, short_text, subject

#: The most rows of a chart; the table below it has all.
MOST_ROWS, MOST_SPREADS, MOST_SIZES = 60, 24, 12
#: How verdicts look that no comparison has.
LEVELS = dict.fromkeys(("wrong", "cheats", "impossible", "void"), "slower")
#: The fewest sizes that make a line worth drawing.
LEAST_SIZES = 3

Result: TypeAlias = Run | ComparisonRun | NoiseRun | JudgedRun | Replay | Exploration | Bisection


def charts(result: Result) -> list[Chart]:
    """Return the charts of a result; none where nothing in it can be drawn."""
    if isinstance(result, ComparisonRun):
        return [*_ratios(result.comparisons)]
    if isinstance(result, NoiseRun):
        return [*_floors(result)]
    if isinstance(result, JudgedRun):
        return [*_speedups(result)]
    if isinstance(result, Bisection):
        return [*_levels(result)]
    if isinstance(result, Exploration):
        return [*_cliffs(result)]
    run = result.run if isinstance(result, Replay) else result
    records = [record for record in records_in_order(with_shares(run.records)) if record.time is not None]
    every = (_shares(records), _times(records), _sizes(records), _roofline(records), _distributions(records))
    return [chart for some in every for chart in some]


def _limit_note(count: int, most: int, what: str) -> str:
    return f" The first {most} of {count} {what}." if count > most else ""


def _details(words: Sequence[tuple[str, str]]) -> Callable[[Case, str, str], str]:
    """Return what writes a row's case, then its direction and its side where rows differ in them.

    What is said last is what a narrow chart leaves out.
    """
    several = [len(set(kind)) > 1 for kind in zip(*words)]

    def detail(case: Case, *kinds: str) -> str:
        differing = (word for word, differs in zip(kinds, several, strict=True) if differs)
        return " ".join(filter(None, (short_text(case), *differing)))

    return detail


def _ratios(comparisons: Sequence[Comparison]) -> Iterator[Chart]:
    ratios = [one for one in comparisons if one.verdict.ratio is not None]
    if not ratios:
        return
    every = [side for one in ratios for side in (one.base, one.new)]
    sides = {sides_of(one, *every) for one in ratios}
    words = " against ".join(reversed(next(iter(sides)))) if len(sides) == 1 else "new against base"
    yield Intervals(
        f"Ratios of time: {words}",
        "Right of 1 is slower. A dot is a pair of processes, the line the interval of their ratio."
        + _limit_note(len(ratios), MOST_ROWS, "comparisons"),
        [_ratio(one, every if len(sides) > 1 else ()) for one in ratios[:MOST_ROWS]],
        lambda ratio: f"{ratio:g}",
        mark=1.0,
    )


def _ratio(one: Comparison, sides: Sequence[Side]) -> Row:
    """Return the row of a comparison; `sides` are those of all, where they differ."""
    verdict = one.verdict
    direction = "" if one.direction == "forward" else one.direction
    names = " / ".join(dict.fromkeys(reversed(sides_of(one, *sides)))) if sides else ""
    pairs = one.log_ratios[-1] if one.log_ratios else ()
    tip = [name(one), f"{format_seconds(one.base_time)} before, {format_seconds(one.new_time)} now"]
    ends = "" if verdict.interval is None else f"{format_percent(verdict.confidence)} {format_ratios(verdict.interval)}"
    return Row(
        label=common_subject(one),
        detail=" ".join(word for word in (short_text(one.case), direction, names) if word),
        value=verdict.ratio,
        interval=verdict.interval,
        figures=f"{verdict.ratio:.3f} {verdict.verdict}",
        level=verdict.verdict,
        dots=[math.exp(value) for value in pairs],
        tip="\n".join([*tip, f"ratio {verdict.ratio:.3f} {ends} of {verdict.pairs} pairs", *reasons(one)]),
    )


def _floors(noise: NoiseRun) -> Iterator[Chart]:
    floors = noise.floors[:MOST_ROWS]
    if not floors:
        return
    low, high = clopper_pearson(noise.alarms, noise.comparisons)
    detail = _details([(floor.trial.direction, place(floor.trial.side)) for floor in floors])
    alarms = f"{noise.alarms} of {noise.comparisons} comparisons of identical code reported a change"
    yield Intervals(
        "Noise floors",
        f"What a live comparison must exceed (dot), and how far two processes differed (end of the line); {alarms} "
        f"({low:.1%} to {high:.1%}).{_limit_note(len(noise.floors), MOST_ROWS, 'floors')}",
        [
            Row(
                subject(floor.trial.case, floor.trial.side),
                detail(floor.trial.case, floor.trial.direction, place(floor.trial.side)),
                _share(floor.moved),
                (_share(floor.moved), _share(max(floor.between, floor.moved))),
                f"{format_percent(_share(floor.moved))} live",
                tip=f"{format_percent(_share(floor.between))} between processes, {floor.pairs} pairs",
            )
            for floor in floors
        ],
        lambda share: f"{100 * share:g} %",
    )


def _levels(bisection: Bisection) -> Iterator[Chart]:
    """Draw how builds compare with the good one, each operator by itself."""
    good = bisection.builds[0]
    for answer in bisection.answers:
        probes = [probe for probe in answer.probes if probe.base == good]
        probes.sort(key=lambda probe: bisection.builds.index(probe.new))
        if probes:
            steps = {step.after for step in answer.steps}
            yield Intervals(
                f"{answer.case.operator} {answer.direction}: builds against {good}",
                f"{answer.reason}. The line is two standard errors to either side.",
                [
                    Row(
                        probe.new,
                        "the step" if probe.new in steps else "",
                        math.exp(probe.log_ratio),
                        (math.exp(probe.log_ratio - 2 * probe.error), math.exp(probe.log_ratio + 2 * probe.error)),
                        f"{math.exp(probe.log_ratio):.3f}",
                        level="slower" if probe.new in steps and probe.log_ratio > 0 else "s0",
                        tip=f"{probe.pairs} pairs",
                    )
                    for probe in probes[:MOST_ROWS]
                ],
                lambda ratio: f"{ratio:g}",
                mark=1.0,
            )


def _cliffs(exploration: Exploration) -> Iterator[Chart]:
    anomalies = [(territory, one) for territory in exploration.territories for one in territory.anomalies]
    if not anomalies:
        return
    detail = _details([(territory.direction, place(territory.side)) for territory, _ in anomalies])
    yield Intervals(
        "Cases that cost too much",
        "How many times longer than its neighbour, the other side or the machine's limit suggests, per smallest case."
        + _limit_note(len(anomalies), MOST_ROWS, "cases"),
        [
            Row(
                territory.operator,
                detail(one.case, territory.direction, place(territory.side)),
                one.ratio,
                one.interval,
                f"{one.ratio:.2f}",
                level="slower",
                tip="\n".join(filter(None, [one.region, one.remedy])),
            )
            for territory, one in anomalies[:MOST_ROWS]
        ],
        lambda ratio: f"{ratio:g}",
        mark=1.0,
    )


def _speedups(judged_run: JudgedRun) -> Iterator[Chart]:
    """Draw how much faster candidates are; those that are refused have a row without a place on the axis."""
    judgements = in_order(judged_run.judgements)
    if not any(one.speed for one in judgements):
        return
    yield Intervals(
        "Speedups",
        "Right of 1 is faster than the reference. A dot is the speedup, the line its interval; a candidate that is "
        "not right has none." + _limit_note(len(judgements), MOST_ROWS, "judgements"),
        [_speedup(one, several=len({one.case for one in judgements}) > 1) for one in judgements[:MOST_ROWS]],
        lambda ratio: f"{ratio:g}",
        mark=1.0,
    )


def _speedup(one: Judged, *, several: bool) -> Row:
    speed, figures, tip = one.speed, one.verdict, [one.reason]
    if speed is not None:
        figures = f"{factor(speed.speedup)} {one.verdict}"
        tip = [
            f"{format_seconds(speed.candidate)}, and {format_seconds(speed.reference)} of the reference",
            f"speedup {factor(speed.speedup)} {interval_text(one)} of {one.pairs} pairs",
            *tip,
        ]
    return Row(
        label=one.candidate,
        detail=" ".join(filter(None, (one.cause, case_text(one.case) if several else ""))),
        value=None if speed is None else speed.speedup,
        interval=None if speed is None else speed.interval,
        figures=figures,
        level=LEVELS.get(one.verdict, one.verdict),
        tip="\n".join(tip),
    )


def _share(log_ratio: float) -> float:
    """Return a change as a share, never so small that a logarithmic axis ends nowhere."""
    return max(math.expm1(log_ratio), 1e-5)


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
        for operator, own in operators.items():
            facts = [record.details.suite for record in own if record.details.suite is not None]
            total, share = sum(fact.total for fact in facts), sum(fact.share for fact in facts)
            calls = sum(record.trial.count for record in own)
            detail = f"{calls} call{'s' if calls != 1 else ''} of {len(own)} case{'s' if len(own) != 1 else ''}"
            bars.append(Bar(operator, detail, share, f"{format_percent(share)}, {format_seconds(total)}"))
        bars.sort(key=lambda bar: -bar.share)
        yield Bars(
            f"Shares of the whole: {side}",
            "Number of calls times the time of one call, by operator."
            + _limit_note(len(bars), MOST_SPREADS, "operators"),
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
        f"A dot is the median, its line {line}.{_limit_note(len(records), MOST_ROWS, 'trials')}",
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
    several = {
        what: sides
        for what, sides in operators.items()
        if max(len({point.x for point in points}) for points in sides.values()) >= LEAST_SIZES
    }
    for (operator, direction), sides in list(several.items())[:MOST_SIZES]:
        yield Scatter(
            f"Time against size: {operator}{'' if direction == 'forward' else f' {direction}'}",
            "Each dot is a case." + _limit_note(len(several), MOST_SIZES, "operators"),
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
    detail = _details([(record.trial.direction, _side(record)) for record in timed_records])
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
            + _limit_note(len(timed_records), MOST_SPREADS, "trials"),
            spreads,
        )
