"""What a database holds: its runs, how an operator went from build to build, and where that changed."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from opperf.domain.code import refusal
from opperf.domain.dataclass import dataclass
from opperf.domain.metric import METRICS, Metric
from opperf.domain.registry import BUILT_IN
from opperf.domain.units import format_bound, format_interval, format_percent, format_ratios, format_seconds
from opperf.parent.analysis.change_points import LEAST_BUILDS, Change
from opperf.parent.analysis.triage import Standing, step_in
from opperf.parent.documents.triage import NEW, SEEN
from opperf.parent.reports.document import Block, Column, Document, Legend, Note, Section, table, table_rows
from opperf.parent.reports.rerun import case_words
from opperf.parent.reports.text import case_text

if TYPE_CHECKING:
    from datetime import datetime

    from opperf.parent.store.database.history import Entry, History, Observation, Ratios, StoredComparison
    from opperf.parent.store.database.listing import OperatorEntry

#: A record with the series that it belongs to.
Part: TypeAlias = "tuple[History, Observation]"


@dataclass(frozen=True)
class NamedChange:
    """A change with the series that shows it.

    `anchor` is the build that ratios refer to; None stands for absolute times, which are much less certain. `first` is
    when the build after it was first measured, where that is known.
    """

    series: Ratios | History
    anchor: str | None
    change: Change
    standing: Standing = Standing()
    first: datetime | None = None


#: What a version may be to stand in a command that is there to be pasted.
VERSION = r"[A-Za-z0-9][A-Za-z0-9.+!_-]*"
#: The status of a change that is no larger than others before.
USUAL = "within its past"
#: Commands that follow up a change, at most: those of the largest.
MOST_CHECKS = 5
#: Series that are told of before a change is confirmed, at most.
MOST_OPEN = 8
#: Said of comparisons that were stored.
RATIOS = "ratio: new / base, from interleaved pairs; `opperf history changes` says where a series of them changes"
#: What is said of changes in absolute times: `benchmarks/nights.py` counts 20 false ones in 1,000 builds.
WEAKER = (
    "much weaker evidence, since a busy night or another machine looks like a change; in simulated nights 40 times as "
    "many false ones were named as in ratios"
)

#: What the columns of changes say.
LEGEND = {
    "ratio": "ratio: time after the change over time before it, with its 95 % interval",
    "status": "unconfirmed: seen in only one build; within its past: its series moved as far before",
    "past": "past: what the series hardly moved by before, from build to build (upper fence of its last 100 steps)",
    "evidence": "times: absolute times from another tool; their scatter serves as the error",
    "name": "name: what `opperf history triage` calls it",
}


def runs(entries: Sequence[Entry]) -> Document:
    """Return the report of the runs in a database, latest first."""
    notes = [] if entries else [Note("the database has no runs; `opperf history add FILE` adds one")]
    notes += [
        Note(f"run {one.key}: {one.doubt}; `opperf history remove {one.key}` removes it")
        for one in entries
        if one.doubt
    ]
    return Document("opperf history list", [table(RUNS, entries), *notes])


def operators(rows: Sequence[OperatorEntry]) -> Document:
    """Return the report of the operators in a database, by name."""
    notes = [] if rows else [Note("the database has no operators; `opperf history add FILE` adds a run")]
    return Document("opperf history operators", [table(OPERATORS, rows), *notes])


def series(histories: Sequence[History], comparisons: Sequence[StoredComparison] = ()) -> Document:
    """Return the report of an operator: each record, and each comparison that was stored, in the order of time."""
    rows = [(history, one) for history in histories for one in history.observations]
    if comparisons:
        times, ratios = table(OBSERVATIONS, rows), table(COMPARISONS, comparisons)
        both = [table_rows(one) for one in (times, ratios)]
        blocks: list[Block] = [ratios, Section("measurements of single runs", [times])] if rows else [ratios]

        def data() -> dict[str, object]:
            return {"title": "opperf history show", "rows": both[0], "comparisons": both[1]}

        return Document("opperf history show", [*blocks, Note(RATIOS)], data)
    note = Note(
        "times of different days also differ by what else the machine did: compare builds with `opperf compare`, and "
        "`opperf history changes` says where their ratios change"
    )
    return Document("opperf history show", [table(OBSERVATIONS, rows), *([note] if rows else [])])


def changes(
    rows: Sequence[NamedChange],
    examined: int,
    imported: int = 0,
    link: Callable[[NamedChange], str] = lambda _: "",
    unconfirmed: Sequence[Ratios] = (),
    top: int | None = None,
    part: slice = slice(None),
) -> Document:
    """Return the report of changes: in how many series of ratios, and of times that other tools measured.

    All are counted; `top` is how many stand in the table, or `part` which of them, where a page has the others.
    """
    words = f"{examined} series of ratios between builds, {_tally([one for one in rows if one.anchor])}"
    if imported:
        weak = _tally([one for one in rows if one.anchor is None])
        words += f"; {imported} series of absolute times from other tools, {weak}: {WEAKER}"
    none = "; ratios come from `opperf compare` of two builds of one framework" if not examined + imported else ""
    none += (
        f"; a change is confirmed by {LEAST_BUILDS} builds that support it, by more than the series scatters"
        if unconfirmed
        else ""
    )
    checks = [Note(command, kind="item") for command in next_commands(rows)]
    notes = [Note(words + none), *open_notes(unconfirmed), *checks]
    if top is not None and (rest := len(rows) - top) > 0:
        left = "smaller change is left out" if rest == 1 else "smaller changes are left out"
        notes.insert(0, Note(f"{rest} {left}; `--top {len(rows)}` shows {'it' if rest == 1 else 'them'} too"))
    return Document("opperf history changes", [table(CHANGES, rows[:top][part], link=link), *notes, Legend(LEGEND)])


def open_notes(open_series: Sequence[Ratios]) -> list[Note]:
    """Say what the last comparison of a series says, while too few builds support a change."""
    notes = []
    for row in open_series[:MOST_OPEN]:
        last = row.latest_difference or row.ratios[-1]
        words = f"{row.case.operator} {row.direction} {case_text(row.case)}, {row.framework} {last.base} to {last.new}"
        ratio = f"{math.exp(last.estimate.log_ratio):.3f} {format_ratios(last.estimate.interval())}"
        name = step_in(row, last.base, last.new, last.estimate).name
        text = f"not confirmed yet: `{name}` {words}: ratio {ratio}, {last.verdict} in the last comparison"
        notes.append(Note(text))
    more = len(open_series) - MOST_OPEN
    return [*notes, *([Note(f"and {more} more that the next build may confirm")] if more > 0 else [])]


def _tally(rows: Sequence[NamedChange]) -> str:
    words = [_status(one) for one in rows]
    count, usual, others = (words.count(word) for word in ("confirmed", USUAL, "unconfirmed"))
    more = f", {others} more to be confirmed by the next build" if others else ""
    more += f", {usual} within what the series moved by before" if usual else ""
    return f"{count} change{'' if count == 1 else 's'}{more}"


def _status(entry: NamedChange) -> str:
    if entry.change.usual:
        return USUAL
    return "confirmed" if entry.change.confirmed else "unconfirmed"


def _past(one: NamedChange) -> float | None:
    return math.expm1(one.change.past) or None


def next_commands(rows: Sequence[NamedChange]) -> list[str]:
    """Return commands that follow up the first of those changes that are new or looked at."""
    open_rows = (one for one in rows if one.standing.state in (NEW, SEEN))
    return [*islice((command for one in open_rows if (command := next_command(one)) is not None), MOST_CHECKS)]


def next_command(entry: NamedChange) -> str | None:
    """Return the command that finds the release of a change, or else compares its two builds directly.

    None where a command line cannot write it, for times of another tool, and for code, which a database does not name.
    """
    code = entry.series.side.get("implementation")
    if code is not None and refusal(str(code)) is not None:
        return None
    case, before, after = case_words(entry.series.case), entry.change.before, entry.change.after
    if case is None or entry.anchor is None or entry.series.framework not in BUILT_IN:
        return None
    if not all(re.fullmatch(VERSION, version) for version in (before, after)):
        return None  # it would stand in a side, which says more than a version
    where, framework = ["--direction", entry.series.direction], entry.series.framework
    if releases_between(before, after):
        words = ["bisect", *case, "--framework", framework, "--good", before, "--bad", after]
        return f"find the release: `{shlex.join(['opperf', *words, *where])}`"
    words = ["compare", *case, "--base", f"{framework}=={before}", "--new", f"{framework}=={after}"]
    return f"check: `{shlex.join(['opperf', *words, *where])}`"


def releases_between(before: str, after: str) -> bool:
    """Whether releases may lie between two; of nightly builds and commits, which no index need have, it is False.

    >>> releases_between("1.26.4", "2.2.6"), releases_between("1.26.3", "1.26.4")
    (True, False)
    >>> releases_between("2.1.dev1", "2.1.dev9")
    False
    """
    if not all(re.fullmatch(r"\d+(\.\d+)+", version) for version in (before, after)):
        return False
    old, new = ([int(part) for part in version.split(".")] for version in (before, after))
    return old < new and new != [*old[:-1], old[-1] + 1]


def _minute(moment: str) -> str:
    """Write a moment as people do.

    >>> _minute("2026-11-23T10:03:45+00:00")
    '2026-11-23 10:03'
    """
    return moment[:16].replace("T", " ")


def _decision(change: NamedChange) -> str:
    """Say what was decided of a change, and what is to be known beside."""
    decision, remark = change.standing.decision, change.standing.remark
    return "; ".join(filter(None, (remark, "" if decision is None else decision.reason)))


def _ratio(one: NamedChange) -> float:
    return math.exp(one.change.size.log_ratio)


RUNS: tuple[Column[Entry], ...] = (
    Column("run", "run", lambda entry: entry.key, least=12),
    Column("started", "started", lambda entry: entry.started.isoformat(), _minute),
    Column("kind", "kind", lambda entry: entry.kind, rank=1),
    Column("rows", "rows", lambda entry: entry.rows, align="right"),
    Column("machine", "machine", lambda entry: entry.machine, least=12, presence="varied"),
    Column(
        "labels", "labels", lambda entry: ", ".join(f"{name}={value}" for name, value in entry.labels.items()), least=10
    ),
)

OPERATORS: tuple[Column[OperatorEntry], ...] = (
    Column("operator", "operator", lambda entry: entry.operator, least=12),
    Column("framework", "framework", lambda entry: entry.framework),
    Column("cases", "cases", lambda entry: entry.cases, align="right"),
    Column("series", "series", lambda entry: entry.series, align="right"),
)


def _figure(metric: Metric) -> Column[Part]:
    """Declare the column of another metric than the time."""
    name = f"{metric.name}_{metric.unit.suffix}"
    show = metric.unit.show
    return Column(name, metric.title, lambda part: part[1].metrics.get(metric.name), show, "right", rank=-1)


OBSERVATIONS: tuple[Column[Part], ...] = (
    Column("operator", "operator", lambda part: part[0].case.operator, presence="varied"),
    Column("case", "inputs", lambda part: case_text(part[0].case), least=14, presence="varied", below=True),
    Column("direction", "direction", lambda part: part[0].direction, presence="varied"),
    Column("framework", "framework", lambda part: part[0].framework, presence="varied"),
    Column("device", "device", lambda part: part[0].side.get("device"), presence="varied", usual="cpu"),
    Column("mode", "mode", lambda part: part[0].side.get("mode"), presence="varied", usual="eager"),
    Column("threads", "threads", lambda part: part[0].side.get("threads"), presence="varied", usual=1),
    Column("machine", "machine", lambda part: part[0].machine, least=12, presence="varied"),
    Column("version", "version", lambda part: part[1].version),
    Column("started", "measured", lambda part: part[1].started.isoformat(), _minute),
    Column("time_s", "time", lambda part: part[1].time, format_seconds, "right"),
    Column("low_s", None, lambda part: part[1].interval[0] if part[1].interval else None),
    Column("high_s", None, lambda part: part[1].interval[1] if part[1].interval else None),
    Column(None, "95 % interval", lambda part: part[1].interval, format_interval, rank=0),
    *(_figure(metric) for name, metric in METRICS.items() if metric.compared is not None and name != "time"),
    Column("status", "status", lambda part: part[1].status, presence="varied", usual="ok"),
    Column("run", "run", lambda part: part[1].run, rank=1),
)

COMPARISONS: tuple[Column[StoredComparison], ...] = (
    Column("started", "measured", lambda one: one.started.isoformat(), _minute, place=-1),
    Column("case", "inputs", lambda one: case_text(one.case), least=14, presence="varied"),
    Column("direction", "direction", lambda one: one.direction, presence="varied"),
    Column("machine", "machine", lambda one: one.machine, least=12, presence="varied"),
    Column("base", "base", lambda one: one.base, presence="varied", place=-1),
    Column("new", "new", lambda one: one.new, place=-1),
    Column("metric", "metric", lambda one: one.metric, presence="varied", usual="time"),
    Column("verdict", "verdict", lambda one: one.verdict, place=-1),
    Column("ratio", "ratio", lambda one: one.ratio, lambda value: "" if value is None else f"{value:.3f}", place=-1),
    Column(None, "interval", lambda one: one.interval, format_ratios, place=-1),
    Column("low", None, lambda one: one.interval and one.interval[0]),
    Column("high", None, lambda one: one.interval and one.interval[1]),
    Column("base_time_s", "base time", lambda one: one.base_time, format_seconds, rank=2, place=-1),
    Column("new_time_s", "new time", lambda one: one.new_time, format_seconds, rank=3, place=-1),
    Column("run", "run", lambda one: one.run, rank=1),
)

CHANGES: tuple[Column[NamedChange], ...] = (
    Column("operator", "operator", lambda one: one.series.case.operator, least=10, names=True),
    Column("case", "inputs", lambda one: case_text(one.series.case), least=14, presence="varied", below=True),
    Column("direction", "direction", lambda one: one.series.direction, presence="varied"),
    Column("framework", "framework", lambda one: one.series.framework, presence="varied"),
    Column("machine", "machine", lambda one: one.series.machine, least=12, presence="varied"),
    Column("before", "before", lambda one: one.change.before),
    Column("after", "after", lambda one: one.change.after),
    Column("ratio", "ratio", _ratio, lambda value: f"{value:.3f}", "right"),
    Column("low", None, lambda one: one.change.size.interval()[0]),
    Column("high", None, lambda one: one.change.size.interval()[1]),
    Column(
        None, "95 % interval", lambda one: one.change.size.interval(), lambda bounds: "[{:.3f}, {:.3f}]".format(*bounds)
    ),
    Column(None, "change", lambda one: _ratio(one) - 1, format_percent, "right", rank=0),
    Column(
        "status", "status", _status, presence="varied",
        usual="confirmed",
    ),
    Column("past", "past", _past, format_bound, rank=0),
    Column(
        "evidence", "evidence", lambda one: "ratios" if one.anchor else "times", presence="varied", usual="ratios",
    ),
    Column("anchor", "anchor", lambda one: one.anchor or "none", presence="varied", rank=1),
    Column("state", "state", lambda one: one.standing.state, presence="varied", usual="new"),
    Column("decision", "decision", _decision, least=14, rank=2),
    Column("name", "name", lambda one: one.standing.name, names=True),
)  # fmt: skip
