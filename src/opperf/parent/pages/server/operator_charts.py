"""What is drawn of an operator: ratios of builds with their changes, frameworks against each other, times of runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from opperf.domain.case import Case
from opperf.domain.metric import METRICS
from opperf.domain.moment import shown_moment
from opperf.domain.stats.significance import Estimate
from opperf.domain.units import format_interval, format_percent, format_ratios
from opperf.parent.analysis.change_points import Change, changes, points
from opperf.parent.analysis.ratio_graph import Edge
from opperf.parent.pages.charts.drawing import color
from opperf.parent.pages.charts.history import History, Line, Moment, Step
from opperf.parent.pages.charts.intervals import Intervals, Row
from opperf.parent.reports.text import case_text
from opperf.parent.store.database.operator_history import Ratios, Times
from opperf.parent.store.database.series import Series
from opperf.parent.store.database.sides import how

#: The most charts of a kind on a page, and the most builds or runs in a chart; the latest are drawn.
MOST, MOST_BUILDS = 6, 300

#: Inputs of series that a server keeps as text: pages name the same ones in each row.
MOST_TEXTS = 4096
#: What the marks of changes say.
MARKS = "the next build has to confirm one with ?, and one with ~ is within what its series moved by before."


def step_text(change: Change) -> str:
    """Write the size of a change: with ~ where its series moved as far before, with ? where one build has shown it."""
    share = math.expm1(change.size.log_ratio)
    mark = " ~" if change.usual else "" if change.confirmed else " ?"
    return f"{'+' if share > 0 else ''}{format_percent(share)}{mark}"


def inputs(series: Series) -> str:
    """Write the inputs of a series."""
    return _case_text(json.dumps(series.case))


@lru_cache(MOST_TEXTS)
def _case_text(case: str) -> str:
    return case_text(Case.from_json(json.loads(case), "case"))


def side_words(series: Series) -> str:
    """Write the side of a series: what is usual is left out."""
    return f"{series.framework} {how(series.side)}".rstrip()


def describe(series: Series) -> str:
    """Describe a series, except for its operator."""
    words = [series.direction] if series.direction != "forward" else []
    by = [] if series.metric == "time" else [f"by {METRICS[series.metric].words}"]
    return " ".join([*words, inputs(series), *by])


def is_of_builds(ratios: Ratios) -> bool:
    """Whether the base is the same side in another build, and not another framework or way to run."""
    return ratios.base.framework == ratios.series.framework and how(ratios.base.side) == how(ratios.series.side)


def ratio_charts(all_ratios: Sequence[Ratios], orders: Mapping[str, Sequence[str]]) -> Iterator[History]:
    """Yield the ratios of builds to their anchor for each series, with the changes in them.

    `orders` are the builds of each framework in their order.
    """
    count = 0
    for ratios in all_ratios:
        edges = [
            Edge(base, new, Estimate(math.log(ratio), error))
            for base, new, ratio, error in zip(ratios.bases, ratios.builds, ratios.ratios, ratios.errors, strict=True)
            if base and new and base != new and ratio and error is not None
        ]
        if edges and is_of_builds(ratios) and count < MOST:
            count += 1
            yield _ratios(ratios.series, edges, orders.get(ratios.series.framework, ()))


def _ratios(series: Series, edges: Sequence[Edge], order: Sequence[str]) -> History:
    anchor, every = points(edges, order)
    # The anchor stands for itself: it is the line that all are held against, and no build among them.
    judged = [point for point in every if point.build != anchor]
    builds = judged[-MOST_BUILDS:]
    places = {point.build: place for place, point in enumerate(builds)}
    moments = []
    for point in builds:
        level, interval = math.exp(point.level.log_ratio), point.level.interval()
        text = f"{point.build}\n{level:.3f} {format_ratios(interval)} of {anchor}"
        moments.append(Moment(places[point.build], level, interval, text))
    steps = []
    for change in changes(every):
        if change.after not in places:
            continue
        ratio, interval = math.exp(change.size.log_ratio), change.size.interval()
        words = f"{change.before} to {change.after}: {ratio:.3f} {format_ratios(interval)}"
        kind = "inconclusive" if change.usual else "slower" if ratio > 1 else "faster"
        steps.append(Step(places[change.after], step_text(change), kind, words))
    return History(
        f"{side_words(series)} against {anchor}: {describe(series)}",
        f"Ratio of each build to the anchor, with its interval, on {series.machine_name}; the dashed line "
        f"at 1 is {anchor}.{_latest(builds, judged)}" + (f" A dashed line is a change; {MARKS}" if steps else ""),
        [point.build for point in builds],
        [Line(series.framework, moments)],
        lambda ratio: f"{ratio:.3g}",
        steps,
        mark=1.0,
        unit=f"{METRICS[series.metric].words} / {anchor}",
    )


def side_charts(all_ratios: Sequence[Ratios]) -> Iterator[Intervals]:
    """Yield the latest comparison of each two frameworks, or ways to run one."""
    rows = []
    for ratios in all_ratios:
        ratio, low, high = (column[-1] for column in (ratios.ratios, ratios.lows, ratios.highs))
        if is_of_builds(ratios) or not ratio:
            continue
        sides = (
            f"{side_words(series)} {build or ''}".rstrip()
            for series, build in ((ratios.series, ratios.builds[-1]), (ratios.base, ratios.bases[-1]))
        )
        interval = None if low is None or high is None else (low, high)
        rows.append(
            Row(
                " / ".join(sides),
                describe(ratios.series),
                ratio,
                interval,
                f"{ratio:.3f} {ratios.verdicts[-1]}",
                ratios.verdicts[-1],
                tip=f"{ratio:.3f} {format_ratios(interval)}\n"
                f"measured {_minute(ratios.started[-1])} on {ratios.series.machine_name}",
            )
        )
    if rows:
        caption = "The latest comparison of each two, pair by pair: time of the first over that of the second."
        title, unit = "Frameworks against each other", "first / second"
        yield Intervals(title, caption, rows, lambda ratio: f"{ratio:g}", mark=1.0, unit=unit)


def _latest(part: Sequence[object], every: Sequence[object]) -> str:
    return f" The latest {len(part)} of {len(every)}." if len(part) < len(every) else ""


def _groups(times: Sequence[Times]) -> list[list[Times]]:
    """Return the series of one chart: of the same inputs and direction, on one machine."""
    groups: dict[tuple[str, int], list[Times]] = {}
    for one in times:
        groups.setdefault((describe(one.series), one.series.machine), []).append(one)
    return [*groups.values()][:MOST]


def latest_charts(times: Sequence[Times], metric: str) -> Iterator[Intervals]:
    """Yield the latest value of every side, where there are several."""
    show = METRICS[metric].unit.show
    names = [*dict.fromkeys(one.series.framework for one in times)]
    rows = []
    for group in _groups(times):
        for series_times in group:
            values = [(i, value) for i, value in enumerate(series_times.of(metric)) if value]
            if not values or len(group) < 2:
                continue
            place, value = values[-1]
            interval = _interval(series_times, place) if metric == "time" else None
            version = series_times.builds[place] or ""
            rows.append(
                Row(
                    f"{side_words(series_times.series)} {version}",
                    describe(series_times.series),
                    value,
                    interval,
                    f"{show(value)} {format_interval(interval)}".rstrip(),
                    color(names.index(series_times.series.framework)),
                    tip=f"measured {_minute(series_times.started[place])} on {series_times.series.machine_name}",
                )
            )
    if rows:
        words = METRICS[metric].words
        yield Intervals(f"Latest {words}, side by side", "The latest measurement of each.", rows, show, unit=words)


def time_charts(times: Sequence[Times], metric: str) -> Iterator[History]:
    """Yield a metric of each run, a line for each side."""
    show = METRICS[metric].unit.show
    for group in _groups(times):
        every = sorted({pair for one in group for pair in zip(one.started, one.runs, strict=True)})
        runs = every[-MOST_BUILDS:]
        places = {run: place for place, (_, run) in enumerate(runs)}
        lines = []
        for series_times in group:
            moments = [
                Moment(
                    places[series_times.runs[i]],
                    value,
                    _interval(series_times, i) if metric == "time" else None,
                    "\n".join(
                        (
                            _minute(series_times.started[i]),
                            f"{series_times.series.framework} {series_times.builds[i]}",
                            show(value),
                        )
                    ),
                )
                for i, value in enumerate(series_times.of(metric))
                if value and series_times.runs[i] in places
            ]
            moments.sort(key=lambda moment: moment.place)  # runs that began in the same second
            lines += [Line(side_words(series_times.series), moments)] if moments else []
        if lines:
            series = group[0].series
            yield History(
                f"{METRICS[metric].words.capitalize()} of one call: {describe(series)}",
                f"As measured on {series.machine_name}; it also depends on what else the machine was doing."
                + _latest(runs, every),
                [_minute(start)[:10] for start, _ in runs],
                lines,
                show,
            )


def _minute(seconds: int) -> str:
    return f"{shown_moment(seconds):%Y-%m-%d %H:%M}"


def _interval(one: Times, place: int) -> tuple[float, float] | None:
    low, high = one.lows[place], one.highs[place]
    return None if low is None or high is None else (low, high)
