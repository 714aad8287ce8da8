"""Which charts a result has: each function looks at one kind of result and returns what there is to draw of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from opperf.domain.plan import Side
from opperf.domain.record import Run
from opperf.domain.stats.significance import clopper_pearson
from opperf.domain.units import (
    format_factor,
    format_percent,
    format_ratios,
    format_seconds,
    plural,
)
from opperf.parent.analysis.summary import with_shares
from opperf.parent.documents.bisection import Bisection
from opperf.parent.documents.candidates import Judged, JudgedRun, in_order
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.documents.exploration import Exploration
from opperf.parent.documents.floor import NoiseRun
from opperf.parent.documents.suite_change import SuiteChange
from opperf.parent.documents.trace import Replay
from opperf.parent.documents.what_if import WhatIfRun
from opperf.parent.pages.charts import Chart
from opperf.parent.pages.charts.intervals import Intervals, Row
from opperf.parent.pages.record_figures import MOST_ROWS, details, limit_note, record_charts
from opperf.parent.reports.comparison import name
from opperf.parent.reports.comparison_rows import reasons, sides_of
from opperf.parent.reports.judge import interval_text
from opperf.parent.reports.run import in_order as records_in_order
from opperf.parent.reports.text import case_text, common_subject, place, short_text, subject

#: How verdicts look that no comparison has.
LEVELS = dict.fromkeys(("wrong", "cheats", "impossible", "void"), "slower")

Result: TypeAlias = (
    Run | ComparisonRun | SuiteChange | WhatIfRun | NoiseRun | JudgedRun | Replay | Exploration | Bisection
)


def charts(result: Result) -> list[Chart]:
    """Return the charts of a result; none where nothing in it can be drawn."""
    if isinstance(result, ComparisonRun):
        return [*_ratios(result.comparisons)]
    if isinstance(result, WhatIfRun):
        return [*_ratios(result.comparison.comparisons)]
    if isinstance(result, SuiteChange):
        return [*_modules(result)]
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
    return record_charts(records)


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
        + limit_note(len(ratios), MOST_ROWS, "comparisons"),
        [_ratio(one, every if len(sides) > 1 else ()) for one in ratios[:MOST_ROWS]],
        lambda ratio: f"{ratio:g}",
        mark=1.0,
    )


def _modules(change: SuiteChange) -> Iterator[Chart]:
    """Draw the ratio of each row that both suites have, below that of the whole."""
    rows = [row for row in change.rows if row.ratio is not None]
    if not rows:
        return
    verdict, total = change.verdict, change.whole
    yield Intervals(
        f"Ratios of time: {change.after} against {change.before}",
        "Right of 1 is slower. The line is the interval over pairs of processes; dots are the pairs of the whole."
        + limit_note(len(rows), MOST_ROWS, "rows"),
        [
            Row(
                "all calls",
                verdict.verdict,
                verdict.ratio,
                verdict.interval,
                "" if verdict.ratio is None else f"{verdict.ratio:.3f} {verdict.verdict}",
                level=verdict.verdict,
                dots=[math.exp(value) for value in next(filter(None, reversed(change.log_ratios)), ())],
                tip=f"{format_seconds(total.before.time)} before, {format_seconds(total.after.time)} after",
            ),
            *(
                Row(
                    row.module,
                    row.group,
                    row.ratio,
                    row.interval,
                    f"{row.ratio:.3f}",
                    tip=f"{format_seconds(row.before.time)} before, {format_seconds(row.after.time)} after",
                )
                for row in rows[:MOST_ROWS]
            ),
        ],
        lambda ratio: f"{ratio:g}",
        mark=1.0,
    )


def _ratio(comparison: Comparison, sides: Sequence[Side]) -> Row:
    """Return the row of a comparison; `sides` are those of all, where they differ."""
    verdict = comparison.verdict
    direction = "" if comparison.direction == "forward" else comparison.direction
    names = " / ".join(dict.fromkeys(reversed(sides_of(comparison, *sides)))) if sides else ""
    pairs = comparison.log_ratios[-1] if comparison.log_ratios else ()
    tip = [
        name(comparison),
        f"{format_seconds(comparison.base_time)} before, {format_seconds(comparison.new_time)} now",
    ]
    ends = "" if verdict.interval is None else f"{format_percent(verdict.confidence)} {format_ratios(verdict.interval)}"
    return Row(
        label=common_subject(comparison),
        detail=" ".join(word for word in (short_text(comparison.case), direction, names) if word),
        value=verdict.ratio,
        interval=verdict.interval,
        figures=f"{verdict.ratio:.3f} {verdict.verdict}",
        level=verdict.verdict,
        dots=[math.exp(value) for value in pairs],
        tip="\n".join(
            [*tip, f"ratio {verdict.ratio:.3f} {ends} of {plural(verdict.pairs, 'pair')}", *reasons(comparison)]
        ),
    )


def _floors(noise: NoiseRun) -> Iterator[Chart]:
    floors = noise.floors[:MOST_ROWS]
    if not floors:
        return
    low, high = clopper_pearson(noise.alarms, noise.comparisons)
    detail = details([(floor.trial.direction, place(floor.trial.side)) for floor in floors])
    alarms = f"{noise.alarms} of {noise.comparisons} comparisons of identical code reported a change"
    yield Intervals(
        "Noise floors",
        f"What a live comparison must exceed (dot), and how far two processes differed (end of the line); {alarms} "
        f"({low:.1%} to {high:.1%}).{limit_note(len(noise.floors), MOST_ROWS, 'floors')}",
        [
            Row(
                subject(floor.trial.case, floor.trial.side),
                detail(floor.trial.case, floor.trial.direction, place(floor.trial.side)),
                _share(floor.moved),
                (_share(floor.moved), _share(max(floor.between, floor.moved))),
                f"{format_percent(_share(floor.moved))} live",
                tip=f"{format_percent(_share(floor.between))} between processes, {plural(floor.pairs, 'pair')}",
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
                        tip=plural(probe.pairs, "pair"),
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
    detail = details([(territory.direction, place(territory.side)) for territory, _ in anomalies])
    yield Intervals(
        "Cases that cost too much",
        "How many times longer than its neighbour, the other side or the machine's limit suggests, per smallest case."
        + limit_note(len(anomalies), MOST_ROWS, "cases"),
        [
            Row(
                territory.operator,
                detail(anomaly.case, territory.direction, place(territory.side)),
                anomaly.ratio,
                anomaly.interval,
                f"{anomaly.ratio:.2f}",
                level="slower",
                tip="\n".join(filter(None, [anomaly.region, anomaly.remedy])),
            )
            for territory, anomaly in anomalies[:MOST_ROWS]
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
        "not right has none." + limit_note(len(judgements), MOST_ROWS, "judgements"),
        [_speedup(one, with_case=len({one.case for one in judgements}) > 1) for one in judgements[:MOST_ROWS]],
        lambda ratio: f"{ratio:g}",
        mark=1.0,
    )


def _speedup(judged: Judged, *, with_case: bool) -> Row:
    speed, figures, tip = judged.speed, judged.verdict, [judged.reason]
    if speed is not None:
        figures = f"{format_factor(speed.speedup)} {judged.verdict}"
        tip = [
            f"{format_seconds(speed.candidate)}, and {format_seconds(speed.reference)} of the reference",
            f"speedup {format_factor(speed.speedup)} {interval_text(judged)} of {plural(judged.pairs, 'pair')}",
            *tip,
        ]
    return Row(
        label=judged.candidate,
        detail=" ".join(filter(None, (judged.cause, case_text(judged.case) if with_case else ""))),
        value=None if speed is None else speed.speedup,
        interval=None if speed is None else speed.interval,
        figures=figures,
        level=LEVELS.get(judged.verdict, judged.verdict),
        tip="\n".join(tip),
    )


def _share(log_ratio: float) -> float:
    """Return a change as a share, never so small that a logarithmic axis ends nowhere."""
    return max(math.expm1(log_ratio), 1e-5)
