"""The pages of changes: between which builds operators became slower or faster, and what was decided of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from opperf.domain.errors import InputError
from opperf.domain.units import format_percent, format_ratio, format_ratios, format_seconds
from opperf.parent.analysis.triage import Standing
from opperf.parent.commands.history import Scope, searches
from opperf.parent.commands.triage import decide, find
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.documents.tolerances import TOLERANCE
from opperf.parent.documents.triage import MOST_TEXT, STATES, Decision
from opperf.parent.pages.charts.intervals import Intervals, Row
from opperf.parent.pages.figures import charts
from opperf.parent.pages.labels import differences, labels
from opperf.parent.pages.server.filters import categories, filters_of
from opperf.parent.pages.server.movers import MOST
from opperf.parent.pages.server.operator_charts import MARKS, step_text
from opperf.parent.pages.server.view import Choice, Form, Link, Part, Query, View, change_place, leading, path
from opperf.parent.reports import history as report
from opperf.parent.reports import report_of
from opperf.parent.reports.document import Block, Column, Document, Note, Section, Table, table
from opperf.parent.reports.rerun import compare_command
from opperf.parent.reports.text import case_text
from opperf.parent.store.database import listing
from opperf.parent.store.database.evidence import evidence
from opperf.parent.store.database.series import Filters

if TYPE_CHECKING:
    from opperf.parent.reports.history import NamedChange
    from opperf.parent.store.database.archive import Archive

ABOUT = (
    "As expected, or not a change, it fails no night or gate again. Nothing is overwritten: the latest decision holds."
)
#: Comparisons that a page reads, at most: half a second's worth.
MOST_COMPARISONS = 30_000


def changes(archive: Archive, query: Query) -> View:
    """Return the changes of all series, the largest first; of a large database only of those that are chosen."""
    filters, machines, since = filters_of(archive, query)
    begin, filters = filters.since, replace(filters, since=None, operator=query.get("operator") or None)
    ratios, times = searches(archive, Scope(filters, begin, most=MOST_COMPARISONS))
    every = [*ratios.changes, *times.changes]
    choices = (
        Choice.of("framework", (one.series.framework for one in every), query),
        Choice.of("build", (one.change.after for one in every), query),
        Choice.of("operator", (one.series.case.operator for one in every), query),
        categories(listing.operators(archive), query),
        Choice.of("direction", (one.series.direction for one in every), query),
        machines,
        Choice.of("verdict", map(_verdict, every), query),
        since,
    )
    build, verdict = query.get("build"), query.get("verdict")
    rows = [one for one in every if build in (None, "", one.change.after) and verdict in (None, "", _verdict(one))]
    page = Part.of(query)

    def document(part: Part) -> Document:
        result = report.changes(rows, ratios.series, times.series, link=change_place, part=part.rows)
        first, *others = (leading(block) if isinstance(block, Table) else block for block in result.blocks)
        notes = part.notes(query, len(rows), "changes")
        blocks = [*([] if ratios.whole else [_searched(ratios.series)]), first, *notes, *others]
        return replace(result, title="Changes between builds", blocks=blocks)

    return View(document(page), [] if page.start else _largest(rows), choices, whole=lambda: document(Part()))


def _searched(count: int) -> Note:
    """Say that a large database was searched in part."""
    return Note(
        f"Only the first {count} series were searched: choose a framework, an operator, a category or a machine."
    )


def _verdict(one: NamedChange) -> str:
    return "slower" if one.change.size.log_ratio > 0 else "faster"


def change(archive: Archive, name: str, query: Query) -> View:
    """Return a change with its evidence, what was decided of it, and where to say more.

    `operator` in the query finds it quicker.
    """
    step, rows, history = find(archive, name, Filters(operator=query.get("operator")))
    standing = (
        rows[0].standing if rows else Standing(name, history[-1].state, history[-1]) if history else Standing(name)
    )
    runs = evidence(archive, step)
    unconfirmed = Note("No change is found there: one comparison shows the step, or it was found before.")
    place = path("operators", step.operator, framework=step.framework)
    blocks: list[Block] = [leading(table(report.CHANGES, rows, link=lambda _: place)) if rows else unconfirmed]
    blocks += _next_steps(rows, runs, step.before)
    if history:
        blocks.append(Section("Decisions", [leading(table(DECISIONS, history[::-1]), ("state", "note"))]))
    blocks += _evidence(runs)
    texts = {"note": "", "owner": "", "link": ""}
    if standing.decision is not None:
        texts |= {"owner": standing.decision.owner, "link": standing.decision.link}
    share = format_percent(math.expm1(step.size.log_ratio))
    facts: dict[str, str | Link] = {
        "state": standing.state,
        "size": f"{'+' if step.is_slower else ''}{share}",
        "name": name,
        "operator": Link(step.operator, place),
    }
    title = f"{step.operator}: {step.framework} {step.before} to {step.after}"
    form = Form(STATES, standing.state, {**texts, "author": ""}, ABOUT, MOST_TEXT)
    pictures = [chart for run in runs[:1] for chart in charts(run)]
    return View(Document(title, blocks, summary=standing.remark), pictures, facts=facts, form=form)


def _next_steps(rows: Sequence[NamedChange], runs: Sequence[ComparisonRun], before: str) -> list[Block]:
    """Return the commands that follow a change up, and the one that measures it again: by the build before it."""
    commands = report.next_commands(rows)
    comparisons = sorted(
        (comparison for run in runs for comparison in run.comparisons),
        key=lambda comparison: comparison.base_version != before,
    )
    again = compare_command(comparisons[0], TOLERANCE) if comparisons else None
    if again is not None:
        commands.append(f"measure it again: `{again}`")
    return [Section("Next steps", [Note(command, kind="item") for command in commands])] if commands else []


def _evidence(runs: Sequence[ComparisonRun]) -> list[Block]:
    """Return the comparisons of the build after a change, and their reports with pairs and reasons."""
    rows = [(run, comparison) for run in runs for comparison in run.comparisons]
    if not rows:
        return []
    reports = [Section(f"Report of run {run.run.id}", report_of(run).blocks, folded=True) for run in runs]
    return [Section("Evidence", [table(EVIDENCE, rows), *reports])]


def decide_change(archive: Archive, name: str, query: Query, form: Mapping[str, str]) -> None:
    """Add what a visitor says of a change; raises `InputError` for what is no decision, or nobody's."""
    author = form.get("author", "").strip()
    if not author:
        raise InputError("the decision has no author", hint="say who you are", slug="input")
    texts = {text: form.get(text, "").strip() for text in ("note", "owner", "link")}
    state = form.get("state", "")
    decide(archive, [name], state, **texts, author=author, filters=Filters(operator=query.get("operator")))


EVIDENCE: tuple[Column[tuple[ComparisonRun, Comparison]], ...] = (
    Column("run", "run", lambda row: row[0].run.id, place=1, link=lambda row: path("runs", row[0].run.id)),
    Column("ratio", "ratio", lambda row: row[1].ratio, format_ratio, "right"),
    Column("verdict", "verdict", lambda row: row[1].verdict.verdict),
    Column("low", None, lambda row: (row[1].interval or (None, None))[0]),
    Column("high", None, lambda row: (row[1].interval or (None, None))[1]),
    Column(None, "interval", lambda row: row[1].interval, format_ratios, "right"),
    Column("pairs", "pairs", lambda row: row[1].verdict.pairs, align="right"),
    Column("base", "base", lambda row: row[1].base_version),
    Column("new", "new", lambda row: row[1].new_version),
    Column("base_time_s", "base time", lambda row: row[1].base_time, format_seconds, "right"),
    Column("new_time_s", "time", lambda row: row[1].new_time, format_seconds, "right"),
    Column("started", "measured", lambda row: row[0].run.started, lambda text: text[:16].replace("T", " ")),
)

DECISIONS: tuple[Column[Decision], ...] = (
    Column("moment", "when", lambda one: one.moment.isoformat(), lambda text: text[:16].replace("T", " ")),
    Column("state", "state", lambda one: one.state),
    Column("note", "note", lambda one: one.note),
    Column("owner", "owner", lambda one: one.owner),
    Column("link", "link", lambda one: one.link),
    Column("author", "who", lambda one: one.author),
)


def _largest(changes: Sequence[NamedChange]) -> list[Intervals]:
    largest = [one for one in changes if one.anchor is not None][:MOST]
    if not largest:
        return []
    names, common = labels([*zip(*_words(largest))])
    rows = []
    for change, name in zip(largest, names, strict=True):
        ratio, interval = math.exp(change.change.size.log_ratio), change.change.size.interval()
        text = " ".join([change.series.direction, case_text(change.series.case)])
        level = "inconclusive" if change.change.usual else _verdict(change)
        tip = f"{ratio:.3f} {format_ratios(interval)}\n{text}"
        rows.append(Row(*name, ratio, interval, step_text(change.change), level, tip=tip))
    of_all = f"Of {common}. " if common else ""
    caption = f"{of_all}Time after the change over time before it; right of 1 is slower; {MARKS}"
    return [Intervals("Largest changes", caption, rows, lambda ratio: f"{ratio:g}", mark=1.0, unit="after / before")]


def _words(changes: Sequence[NamedChange]) -> list[Sequence[str]]:
    """Return the words that name changes: operators, inputs where those of an operator differ, builds, and the rest."""
    every_series = [change.series for change in changes]
    machines = [series.machine for series in every_series]
    return [
        [series.case.operator for series in every_series],
        differences([series.case for series in every_series]),
        [f"{change.change.after} after {change.change.before}" for change in changes],
        [series.framework for series in every_series],
        ["" if series.direction == "forward" else series.direction for series in every_series],
        machines if len(set(machines)) > 1 else ["" for _ in machines],
    ]
