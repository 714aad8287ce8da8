"""Series of two builds or sides: the rows of their ratios, what moved most as a chart, and small histories."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from xml.etree.ElementTree import Element

from opperf.domain.case import Case
from opperf.domain.units import format_ratio, format_ratios, format_seconds
from opperf.parent.documents.comparison import CHANGES
from opperf.parent.pages.charts.intervals import Intervals, Row
from opperf.parent.pages.charts.sparkline import sparkline
from opperf.parent.pages.labels import case_words, labels
from opperf.parent.pages.server.operator_charts import inputs
from opperf.parent.pages.server.view import path
from opperf.parent.reports.document import Column
from opperf.parent.store.database.overview import Mover
from opperf.parent.store.database.sides import how
from opperf.parent.store.database.trails import Spot, Trails

#: The most changes to draw; what moved most comes first.
MOST = 20


def largest(movers: Sequence[Mover], anchor: str, build: str) -> list[Intervals]:
    """Return the chart of what moved most: that which is called slower or faster, or of times everything."""
    rows = [
        (mover, ratio)
        for mover in movers
        if (ratio := mover.difference.ratio) is not None and mover.difference.verdict in (*CHANGES, None)
    ][:MOST]
    if not rows:
        return []
    names, common = labels([*zip(*_words([mover for mover, _ in rows]))])
    lines = [_line(*row, name, anchor, build) for row, name in zip(rows, names, strict=True)]
    caption = f"{f'Of {common}. ' if common else ''}Time in {build} over time in {anchor}; right of 1 is slower."
    unit = f"{build} / {anchor}"
    return [Intervals("Largest changes", caption, lines, lambda ratio: f"{ratio:g}", mark=1.0, unit=unit)]


def _words(movers: Sequence[Mover]) -> list[Sequence[str]]:
    """Return the words that name movers: operators, cases, directions, how they ran, and where."""
    every_series = [mover.series for mover in movers]
    machines = [series.machine_name for series in every_series]
    return [
        [series.operator for series in every_series],
        case_words([Case.from_json(series.case, "case") for series in every_series]),
        ["" if series.direction == "forward" else series.direction for series in every_series],
        [how(series.side) for series in every_series],
        machines if len(set(machines)) > 1 else ["" for _ in machines],
    ]


def _line(mover: Mover, ratio: float, name: tuple[str, str], anchor: str, build: str) -> Row:
    difference, verdict = mover.difference, mover.difference.verdict
    return Row(
        *name,
        ratio,
        difference.interval,
        f"{ratio:.3f} {verdict or ''}".rstrip(),
        verdict or "inconclusive",
        tip=f"{ratio:.3f} {format_ratios(difference.interval)}\n{inputs(mover.series)}\n"
        f"{format_seconds(difference.base_time)} in {anchor}, {format_seconds(difference.new_time)} in {build}",
    )


def trail_words(spots: Sequence[Spot], builds: Sequence[str]) -> str:
    """Say what a small history shows, to those who cannot see it.

    >>> trail_words([Spot(0, 1.0, None, None), Spot(1, 1.08, None, None)], ["2.1", "2.2"])
    '1.000 in 2.1 to 1.080 in 2.2'
    """
    if not spots:
        return ""
    first, last = (f"{spot.ratio:.3f} in {builds[spot.place]}" for spot in (spots[0], spots[-1]))
    return last if len(spots) == 1 else f"{first} to {last}"


def trail(spots: Sequence[Spot], builds: Sequence[str]) -> Element | None:
    """Draw a small history."""
    return sparkline(spots, len(builds), trail_words(spots, builds))


def mover_columns(trails: Trails | None = None, fresh: Collection[str] = ()) -> Iterator[Column[Mover]]:
    """Yield the columns of movers, with their histories where there are any; `fresh` are the runs that are new."""
    yield Column("operator", "operator", lambda mover: mover.series.operator)
    yield Column("ratio", "ratio", lambda mover: mover.difference.ratio, format_ratio, "right")
    yield Column("verdict", "verdict", lambda mover: mover.difference.verdict)
    yield Column("inputs", "inputs", lambda mover: inputs(mover.series))
    yield Column("low", None, lambda mover: mover.difference.low)
    yield Column("high", None, lambda mover: mover.difference.high)
    yield Column(None, "interval", lambda mover: mover.difference.interval, format_ratios, "right")
    if trails is not None:
        yield Column(
            None,
            "history",
            lambda mover: trail_words(trails.spots.get(mover.series.id, ()), trails.builds),
            picture=lambda mover: trail(trails.spots.get(mover.series.id, ()), trails.builds),
        )
    yield Column("direction", "direction", lambda mover: mover.series.direction, presence="varied")
    yield Column("mode", "mode", lambda mover: mover.series.side.get("mode"), presence="varied", usual="eager")
    yield Column("threads", "threads", lambda mover: mover.series.side.get("threads"), presence="varied", usual=1)
    yield Column("base_time_s", "base time", lambda mover: mover.difference.base_time, format_seconds, "right")
    yield Column("new_time_s", "time", lambda mover: mover.difference.new_time, format_seconds, "right")
    yield Column("machine", "machine", lambda mover: mover.series.machine_name, presence="varied")
    yield Column("evidence", "evidence", evidence, presence="varied", usual="compared")
    if fresh:
        yield Column("new", "new", lambda mover: "new" if mover.run in fresh else "", presence="varied")
    yield Column("run", "run", lambda mover: mover.run, link=lambda mover: path("runs", mover.run))


def evidence(mover: Mover) -> str:
    """Say how a ratio is known."""
    return f"by way of {mover.by}" if mover.by else mover.way
