"""Which charts a result has: each function looks at one kind of result and returns what there is to draw of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from opperf.domain.case import Case
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
from opperf.parent.pages.bisect_figures import staircases
from opperf.parent.pages.charts import Chart
from opperf.parent.pages.charts.intervals import Intervals, Row
from opperf.parent.pages.labels import case_words, labels
from opperf.parent.pages.record_figures import record_charts
from opperf.parent.pages.record_rows import limit_note
from opperf.parent.reports.comparison import by_operator, name
from opperf.parent.reports.comparison_rows import pairs_of, reasons, sides_of
from opperf.parent.reports.judge import interval_text
from opperf.parent.reports.run import in_order as records_in_order
from opperf.parent.reports.text import case_text, common_subject, place, subject

#: The most rows of a chart; the table below it has all.
MOST_ROWS = 60
#: How verdicts look that no comparison has.
LEVELS = dict.fromkeys(("wrong", "cheats", "impossible", "void"), "slower")

Result: TypeAlias = (
    Run | ComparisonRun | SuiteChange | WhatIfRun | NoiseRun | JudgedRun | Replay | Exploration | Bisection
)


def charts(result: Result, *, still: bool = False) -> list[Chart]:
    """Return the charts of a result, of a page or a `still` picture; none where nothing in it can be drawn."""
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
        return [*staircases(result)]
    if isinstance(result, Exploration):
        return [*_cliffs(result)]
    run = result.run if isinstance(result, Replay) else result
    records = [record for record in records_in_order(with_shares(run.records)) if record.time is not None]
    return record_charts(records, still=still)


def night_charts(steps: Sequence[Comparison], others: Sequence[Comparison]) -> list[Chart]:
    """Return the charts of nights: builds against the one before each, and apart from these all against the anchor."""
    return [
        *_ratios(by_operator(steps), "Builds against the one before"),
        *_ratios(by_operator(others), "Builds against the anchor"),
    ]


def _ratios(comparisons: Sequence[Comparison], title: str = "Ratios of time") -> Iterator[Chart]:
    ratios = [one for one in comparisons if one.verdict.ratio is not None]
    if not ratios:
        return
    every = [side for one in ratios for side in (one.base, one.new)]
    visible = ratios[:MOST_ROWS]
    ends = [sides_of(one, *every) for one in visible]
    sides, against = _side_words(ends)
    subjects, cases = [common_subject(one) for one in visible], case_words([one.case for one in visible])
    directions = ["" if one.direction == "forward" else one.direction for one in visible]
    # Inputs may be long, and what stands behind them cut off; those of a single operator name the rows.
    rest = (sides, cases) if len(set(subjects)) > 1 else (cases, sides)
    names, common = labels([*zip(subjects, *rest, directions)])
    yield Intervals(
        f"{title}{against}",
        f"{f'Of {common}. ' if common else ''}Right of 1 is slower. A dot is a pair of processes, the line the "
        f"interval of their ratio; a row opens to its pairs.{limit_note(len(ratios), MOST_ROWS, 'comparisons')}",
        [_ratio(one, *name) for one, name in zip(visible, names, strict=True)],
        lambda ratio: f"{ratio:g}",
        mark=1.0,
        unit=" / ".join(reversed(ends[0])) if len(set(ends)) == 1 else "new / base",
    )


def _side_words(ends: Sequence[tuple[str, str]]) -> tuple[list[str], str]:
    """Return the words for the sides of each row, and the end of the title, of the base and the new side of each.

    >>> _side_words([("a", "c"), ("b", "c")]), _side_words([("a", "b"), ("a", "c")])
    ((['/ a', '/ b'], ': new c'), (['b', 'c'], ': base a'))
    >>> _side_words([("a", "b"), ("a", "b")]), _side_words([("a", "b"), ("c", "d")])
    ((['', ''], ': b against a'), (['b / a', 'd / c'], ''))
    """
    bases, news = ({end[place] for end in ends} for place in (0, 1))
    base, new = ends[0]
    if len(bases) == len(news) == 1:
        return ["" for _ in ends], f": {new} against {base}"
    if len(news) == 1:
        return [f"/ {base}" for base, _ in ends], f": new {new}"
    if len(bases) == 1:
        return [new for _, new in ends], f": base {base}"
    return [" / ".join(dict.fromkeys((new, base))) for base, new in ends], ""


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
        unit="after / before",
    )


def _ratio(comparison: Comparison, label: str, detail: str) -> Row:
    verdict = comparison.verdict
    pairs = next(filter(None, reversed(comparison.log_ratios)), ())  # of the stage that decided
    tip = [
        name(comparison),
        f"{format_seconds(comparison.base_time)} before, {format_seconds(comparison.new_time)} now",
    ]
    ends = "" if verdict.interval is None else f"{format_percent(verdict.confidence)} {format_ratios(verdict.interval)}"
    return Row(
        label,
        detail,
        verdict.ratio,
        verdict.interval,
        f"{verdict.ratio:.3f} {verdict.verdict}",
        level=verdict.verdict,
        dots=[math.exp(value) for value in pairs],
        tip="\n".join(
            [*tip, f"ratio {verdict.ratio:.3f} {ends} of {plural(verdict.pairs, 'pair')}", *reasons(comparison)]
        ),
        behind=pairs_of(comparison),
    )


def _floors(noise: NoiseRun) -> Iterator[Chart]:
    floors = noise.floors[:MOST_ROWS]
    if not floors:
        return
    low, high = clopper_pearson(noise.alarms, noise.comparisons)
    trials = [floor.trial for floor in floors]
    names, common = _row_labels([(subject(one.case, one.side), one.case, one.direction, one.side) for one in trials])
    alarms = f"{noise.alarms} of {noise.comparisons} comparisons of identical code reported a change"
    yield Intervals(
        "Noise floors",
        f"What a live comparison must exceed (dot), and how far two processes differed (end of the line); {alarms} "
        f"({low:.1%} to {high:.1%}).{common}{limit_note(len(noise.floors), MOST_ROWS, 'floors')}",
        [
            Row(
                *name,
                _share(floor.moved),
                (_share(floor.moved), _share(max(floor.between, floor.moved))),
                f"{format_percent(_share(floor.moved))} live",
                tip=f"{format_percent(_share(floor.between))} between processes, {plural(floor.pairs, 'pair')}",
            )
            for floor, name in zip(floors, names, strict=True)
        ],
        lambda share: f"{100 * share:g} %",
        unit="difference of identical code",
    )


def _row_labels(rows: Sequence[tuple[str, Case, str, Side]]) -> tuple[list[tuple[str, str]], str]:
    """Return label and detail of rows of a subject, a case, a direction and a side, and what to say once of all."""
    cases = case_words([case for _, case, _, _ in rows])
    names = [(name, text, direction, place(side)) for (name, _, direction, side), text in zip(rows, cases, strict=True)]
    pairs, common = labels(names)
    return pairs, f" All: {common}." if common else ""


def _cliffs(exploration: Exploration) -> Iterator[Chart]:
    anomalies = [(territory, one) for territory in exploration.territories for one in territory.anomalies]
    if not anomalies:
        return
    names, common = _row_labels(
        [(one.operator, anomaly.case, one.direction, one.side) for one, anomaly in anomalies[:MOST_ROWS]]
    )
    yield Intervals(
        "Cases that cost too much",
        "How many times longer than its neighbour, the other side or the machine's limit suggests, per smallest case."
        f"{common}{limit_note(len(anomalies), MOST_ROWS, 'cases')}",
        [
            Row(
                *name,
                anomaly.ratio,
                anomaly.interval,
                f"{anomaly.ratio:.2f}",
                level="slower",
                tip="\n".join(filter(None, [anomaly.region, anomaly.remedy])),
            )
            for (_, anomaly), name in zip(anomalies, names)
        ],
        lambda ratio: f"{ratio:g}",
        mark=1.0,
        unit="times as long as expected",
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
        unit="reference / candidate",
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
